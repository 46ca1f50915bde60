import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'

import type { Statement } from '../../src/core/statement.ts'
import { meetingOf } from '../stories/meeting.ts'
import { caught, describePatterns, type PatternStage } from '../patterns/stage.ts'

/** No other can hold it: what a call needs is made by the first one, and its transaction has to begin anew. */
const saysHeld = /held by another/

describe('work that catches that its transaction has to be repeated', () => {
  describePatterns(onceSpecs)
  // where a lock has a row or a guard, and the wait for another is done by repeating
  describePatterns(lockSpecs, { nodes: 2, only: ['duckdb', 'mongodb'] })
})

function onceSpecs(stage: PatternStage): void {
  const dropTable: Statement =
    stage.name === 'mongodb'
      ? { command: { drop: '_once' } }
      : { sql: 'DROP TABLE IF EXISTS _once', params: [] }
  const notesOf = async (code: string): Promise<number> => (await stage.run(stage.sql.notes(code))).length

  /** The body of a delivery: what `after` does comes behind the call of once, whose error it is told. */
  const deliver = async (code: string, after: (tx: unknown, error: unknown) => Promise<unknown>) => {
    const node = stage.node()
    // on some databases it comes to be only with the first mark
    await caught(stage.run(dropTable))
    let runs = 0
    const done = await node.meeting.shared.transaction(async (tx) => {
      runs += 1
      const work = async (): Promise<unknown> => node.run(tx, stage.sql.addNote(code))
      const told = await caught(node.once(tx, ['delivery', code], work))
      await after(tx, told)
      await node.run(tx, stage.sql.addNote(`${code} besides`))
      return told
    })
    expect(done).toBe('no error')
    expect(runs).toBeLessThanOrEqual(2)
    expect([await notesOf(code), await notesOf(`${code} besides`)]).toEqual([1, 1])
  }

  test('of once, whose table was missing, and goes on: the work of once is stored with the rest', async () => {
    const told: unknown[] = []
    await deliver(randomUUID(), async (_, error) => told.push(error))
    expect(told.filter((error) => saysHeld.test(String(error)))).toEqual([])
  })

  test('of once, whose table was missing, with Promise.allSettled: all of it is stored', async () => {
    const node = stage.node()
    const code = randomUUID()
    await caught(stage.run(dropTable))
    const settled = await node.meeting.shared.transaction((tx) =>
      Promise.allSettled([
        node.once(tx, ['delivery', code], async () => node.run(tx, stage.sql.addNote(code))),
        node.run(tx, stage.sql.addNote(`${code} besides`)),
      ]),
    )
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect([await notesOf(code), await notesOf(`${code} besides`)]).toEqual([1, 1])
  })

  test('of once, whose table was missing, and throws one of its own without a cause: is run again', () =>
    deliver(randomUUID(), async (_, error) => {
      if (error !== 'no error') throw new Error('mine')
    }))

  test('of once, whose table was missing, and meets another error of the database: is run again', () =>
    deliver(randomUUID(), async (tx, error) => {
      if (error !== 'no error') await stage.node().run(tx, stage.sql.insertAccount(1))
    }))
}

function lockSpecs(stage: PatternStage): void {
  const notesOf = async (code: string): Promise<number> => (await stage.run(stage.sql.notes(code))).length

  test('of a lock, whose row was made just now, and goes on: nothing is stored without the lock', async () => {
    const { meeting, run } = stage.node()
    const code = randomUUID()
    const told: unknown[] = []
    const isHeld = await meeting.shared.transaction(async (tx) => {
      const error = await caught(meeting.shared.lock(tx, ['door', code]).then(() => 'no error'))
      told.push(error)
      await run(tx, stage.sql.addNote(code))
      return error === 'no error'
    })
    expect(isHeld).toBe(true)
    expect(await notesOf(code)).toBe(1)
    expect(told.filter((error) => saysHeld.test(String(error)))).toEqual([])
  })

  test('of a lock, whose row was made just now, and throws one of its own: is run again', async () => {
    const { meeting, run } = stage.node()
    const code = randomUUID()
    await meeting.shared.transaction(async (tx) => {
      const error = await caught(meeting.shared.lock(tx, ['door', code]).then(() => 'no error'))
      if (error !== 'no error') throw new Error('mine')
      await run(tx, stage.sql.addNote(code))
    })
    expect(await notesOf(code)).toBe(1)
  })

  test('of rows, whose guard was made just now, and goes on: nothing is stored without the lock', async () => {
    const { rows, meeting, run } = stage.node()
    const code = randomUUID()
    const found = await meeting.shared.transaction(async (tx) => {
      const answer = await rows(tx, { table: 'account', key: { id: 1 } }).catch(() => [])
      await run(tx, stage.sql.addNote(code))
      return answer
    })
    expect(found).toHaveLength(1)
    expect(await notesOf(code)).toBe(1)
  })

  // where a transaction that writes is the only one, the other has not begun
  test.skipIf(stage.name === 'sqlite')(
    'of a lock that another holds, and goes on: nothing is stored before it has the lock',
    async () => {
      const [holder, waiter] = [stage.node(0), stage.node(1)]
      const code = randomUUID()
      for (const { meeting } of [holder, waiter])
        await meeting.shared.transaction((tx) => meeting.shared.lock(tx, ['door', code]))
      const isTaken = meetingOf(2)
      const isTold = meetingOf(2)
      let runs = 0
      const holding = holder.meeting.shared.transaction(async (tx) => {
        await holder.meeting.shared.lock(tx, ['door', code])
        await isTaken.meet()
        await isTold.meet()
        expect(await notesOf(code)).toBe(0)
      })
      await isTaken.meet()
      const waiting = waiter.meeting.shared.transaction(async (tx) => {
        runs += 1
        const asking = caught(waiter.meeting.shared.lock(tx, ['door', code]).then(() => 'no error'))
        if (runs === 1) void isTold.meet()
        const error = await asking
        await caught(waiter.run(tx, stage.sql.addNote(code)))
        return error
      })
      await holding
      expect(await waiting).toBe('no error')
      expect(await notesOf(code)).toBe(1)
    },
  )

  test('counts no time for locks that nobody has, and whose rows are missing', async () => {
    const { shared } = stage.node(0).meeting
    const keys = [1, 2, 3, 4, 5].map((n) => ['free', randomUUID(), n] as const)
    const taken = shared.transaction(async (tx) => {
      for (const key of keys) await shared.lock(tx, key, { wait: { timeoutMs: 1 } })
      return keys.length
    })
    expect(await taken).toBe(keys.length)
  })
}
