import { expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { meetingOf } from '../stories/meeting.ts'
import { change, describeLibraries, lossOf, run, type Stage } from './stage.ts'

describeLibraries(specs)

const once = { attempts: 1, isolation: 'read committed' } as const

function specs(stage: Stage): void {
  /** The table as the server calls it. */
  const called = (table: string): RegExp => new RegExp(`(?:^|[ .])${table}\\b`)

  test('rows against rows: both tables, both statements, and the victim', async () => {
    const { locks, run: send } = stage.way
    const rival = await stage.rival()
    await run(rival, change('stock', 1))
    let waiting: Promise<unknown> | undefined
    const lost = lossOf(
      locks.transaction(async (tx) => {
        await send(tx, change('orders', 2))
        waiting = run(rival, change('orders', 3))
        await until(() => stage.engine.isWaiting(rival), 'the rival waiting')
        await send(tx, change('stock', 4))
      }, once),
    )
    const { deadlock, error } = await lost
    await waiting
    expect(error.kind).toBe('deadlock')
    expect(deadlock.dialect).toBe(stage.name)
    const [victim, other] = [true, false].map((is) => deadlock.sessions.find(({ isVictim }) => isVictim === is))
    console.log(JSON.stringify(deadlock, null, 1))
    expect(deadlock.sessions).toHaveLength(2)
    expect(other?.id).toBe(rival.id)
    expect(victim?.statement).toBe(change('stock', 4))
    expect(other?.statement).toBe(change('orders', 3))
    expect(victim?.waits?.lock.on).toMatch(called('stock'))
    expect(victim?.waits?.blockedBy).toEqual([rival.id])
    expect(other?.waits?.blockedBy).toEqual([victim?.id])
    expect(deadlock.unseen).toEqual([])
    const told = [other?.waits?.lock.on, ...(victim?.ran ?? []), ...(other?.holds ?? []).map(({ on }) => on)]
    expect(told.some((text) => called('orders').test(text ?? ''))).toBe(true)
  })

  test('names against names: both keys in clear, both statements, and the victim', async () => {
    const { locks } = stage.way
    const [left, right] = [['left', stage.name, 1], ['right', stage.name, 2]] as const
    const meeting = meetingOf(2)
    const take = (outer: readonly [string, string, number], inner: readonly [string, string, number]) =>
      locks.withLock(
        outer,
        async (tx) => {
          await meeting.meet()
          await locks.lock(tx, inner)
        },
        once,
      )
    const outcomes = await Promise.allSettled([take(left, right), take(right, left)])
    const [lost] = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const { deadlock } = await lossOf(Promise.reject(lost))
    console.log(JSON.stringify(deadlock, null, 1))
    expect(deadlock.sessions.map(({ waits }) => waits?.lock.key).toSorted()).toEqual(
      [left, right].map((key) => key.join('.')).toSorted(),
    )
    expect(deadlock.sessions.filter(({ isVictim }) => isVictim)).toHaveLength(1)
  })
}
