import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'

import type { Isolation } from '../../src/core/request.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import type { OnceResult } from '../../src/locks/patterns/once.ts'
import { meetingOf } from '../stories/meeting.ts'
import { caught, describePatterns } from './stage.ts'

const workers = [0, 1, 2, 3, 4, 5]
const patience = { timeout: 600_000 }

const levels: Readonly<Record<string, readonly Isolation[]>> = {
  postgres: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
  mysql: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
  mariadb: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
  sqlite: ['serializable'],
  duckdb: ['snapshot'],
  mongodb: ['snapshot'],
}

describePatterns(
  (stage) => {
    const isDocuments = stage.name === 'mongodb'
    const notesOf = async (code: string): Promise<number> => (await stage.run(stage.sql.notes(code))).length
    const marks = (): Promise<readonly Row[]> =>
      stage.run(
        isDocuments
          ? { command: { find: '_once', filter: { _id: { $regex: '^hf:' } } } }
          : { sql: "SELECT name, made_at FROM _once WHERE name LIKE 'hf:%'", params: [] },
      )
    const dropTable: Statement = isDocuments
      ? { command: { drop: '_once' } }
      : { sql: 'DROP TABLE _once', params: [] }
    const deliver = (worker: number, code: string): Promise<OnceResult<string>> => {
      const node = stage.node(worker)
      return node.meeting.shared.transaction((tx) =>
        node.once(tx, ['webhook', code], async () => {
          await node.run(tx, stage.sql.addNote(code))
          return code
        }),
      )
    }

    test('what is done under a key is done once, and the second is told', async () => {
      expect(await deliver(0, 'a')).toEqual({ isFirst: true, value: 'a' })
      expect(await deliver(0, 'a')).toEqual({ isFirst: false })
      expect(await deliver(1, 'a')).toEqual({ isFirst: false })
      expect(await deliver(1, 'b')).toEqual({ isFirst: true, value: 'b' })
      expect([await notesOf('a'), await notesOf('b')]).toEqual([1, 1])
    })

    test('the mark has the server’s time', async () => {
      const code = randomUUID()
      const before = Date.now()
      await deliver(0, code)
      const times = (await marks()).map((row) => Number(row.made_at))
      expect(Math.max(...times)).toBeGreaterThanOrEqual(before - 1000)
      expect(Math.max(...times)).toBeLessThanOrEqual(Date.now() + 1000)
    })

    test('work that fails leaves no mark, and is done the next time', async () => {
      const node = stage.node()
      const code = randomUUID()
      const failing = node.meeting.shared.transaction((tx) =>
        node.once(tx, ['webhook', code], async () => {
          await node.run(tx, stage.sql.addNote(code))
          throw new Error('half done')
        }),
      )
      await expect(failing).rejects.toThrow('half done')
      expect(await notesOf(code)).toBe(0)
      expect(await deliver(1, code)).toEqual({ isFirst: true, value: code })
    })

    for (const way of ['catches the error', 'does not await the call'] as const) {
      test(`work that fails leaves no mark when the body ${way}`, async () => {
        const node = stage.node()
        const code = randomUUID()
        const gatewayDown = new Error('gateway down')
        const call = node.meeting.shared.transaction(async (tx) => {
          const failed = caught(
            node.once(tx, ['webhook', code], async () => {
              throw gatewayDown
            }),
          )
          if (way === 'catches the error') expect(await failed).toBe(gatewayDown)
          await node.run(tx, stage.sql.addNote(`${code} besides`))
        })
        expect(await caught(call)).toMatchObject({ name: 'LockUsageError', cause: gatewayDown })
        expect(await notesOf(`${code} besides`)).toBe(0)
        expect(await deliver(1, code)).toEqual({ isFirst: true, value: code })
      })
    }

    test('the transaction is of use after the answer, whatever it was', async () => {
      const code = randomUUID()
      await deliver(1, code)
      const node = stage.node()
      await node.meeting.shared.transaction(async (tx) => {
        expect(await node.once(tx, ['webhook', code], async () => {})).toEqual({ isFirst: false })
        await node.run(tx, stage.sql.addNote(`${code} again`))
      })
      expect(await notesOf(`${code} again`)).toBe(1)
    })

    test('in one transaction the second call of a key is told too', async () => {
      const node = stage.node()
      const code = randomUUID()
      const answers = await node.meeting.shared.transaction(async (tx) => [
        (await node.once(tx, code, async () => {})).isFirst,
        (await node.once(tx, code, async () => {})).isFirst,
        (await node.once(tx, [code, 2], async () => {})).isFirst,
      ])
      expect(answers).toEqual([true, false, true])
    })

    for (const isolation of [undefined, ...(levels[stage.name] ?? [])]) {
      test(
        `of deliveries that are all under way at ${isolation ?? 'the default isolation'} one has an effect`,
        patience,
        async () => {
          const code = randomUUID()
          await deliver(0, `${code} first`) // the table is there
          // where a transaction that writes is the only one, the others have not begun
          const all = meetingOf(stage.name === 'sqlite' ? 1 : workers.length)
          const work = async (worker: number): Promise<boolean> => {
            const node = stage.node(worker)
            let attempt = 0
            const { isFirst } = await node.meeting.shared.transaction(async (tx) => {
              attempt += 1
              await node.run(tx, stage.sql.notes(code)) // what is read from now on may be as of now
              if (attempt === 1) await all.meet()
              return node.once(tx, ['webhook', code], async () => {
                await node.run(tx, stage.sql.addNote(code))
              })
            }, isolation && { isolation })
            return isFirst
          }
          const answers = await Promise.all(workers.map(work))
          expect(answers.filter(Boolean)).toHaveLength(1)
          expect(await notesOf(code)).toBe(1)
        },
      )
    }

    test(
      'while the first is at work, the second does not begin; when the first fails, the second does it',
      patience,
      async () => {
        const code = randomUUID()
        await deliver(0, `${code} first`)
        const atWork = meetingOf(2)
        const second = meetingOf(2)
        const node = stage.node()
        let isSecondAtWork = false
        const failing = caught(
          node.meeting.shared.transaction((tx) =>
            node.once(tx, ['webhook', code], async () => {
              await node.run(tx, stage.sql.addNote(code))
              await atWork.meet()
              await second.meet()
              expect(isSecondAtWork).toBe(false)
              throw new Error('the first fails')
            }),
          ),
        )
        await atWork.meet()
        const other = stage.node(1)
        const waiting = other.meeting.shared.transaction((tx) =>
          other.once(tx, ['webhook', code], async () => {
            isSecondAtWork = true
            await other.run(tx, stage.sql.addNote(code))
          }),
        )
        await second.meet()
        expect(String(await failing)).toContain('the first fails')
        expect(await waiting).toMatchObject({ isFirst: true })
        expect(await notesOf(code)).toBe(1)
      },
    )

    test('without the mark, by a look at what is there, the same deliveries have several effects', async () => {
      const code = randomUUID()
      const all = meetingOf(workers.length)
      const work = async (worker: number): Promise<void> => {
        const node = stage.node(worker)
        const seen = await stage.run(stage.sql.notes(code))
        await all.meet()
        if (seen.length === 0)
          await node.meeting.shared.transaction((tx) => node.run(tx, stage.sql.addNote(code)))
      }
      await Promise.all(workers.map(work))
      expect(await notesOf(code)).toBe(workers.length)
    })

    test('the table is made by whoever finds none, also by many at once', patience, async () => {
      await deliver(0, randomUUID())
      await stage.run(dropTable)
      const code = randomUUID()
      const answers = await Promise.all(workers.map((worker) => deliver(worker, code)))
      expect(answers.filter(({ isFirst }) => isFirst)).toHaveLength(1)
      expect(await notesOf(code)).toBe(1)
    })

    test('a mistake in the call is named', async () => {
      const node = stage.node()
      const call = (key: unknown): Promise<unknown> =>
        caught(node.meeting.shared.transaction((tx) => node.once(tx, key as string, async () => {})))
      expect(await call(undefined)).toMatchObject({ field: 'key' })
      expect(await call('')).toMatchObject({ field: 'key[0]' })
      expect(await call([])).toMatchObject({ field: 'key' })
      expect(await call({ raw: 'name', name: 'x' })).toMatchObject({ field: 'key' })
      await expect(node.once({}, 'x', async () => {})).rejects.toMatchObject({ field: 'tx' })
    })
  },
  { nodes: workers.length },
)
