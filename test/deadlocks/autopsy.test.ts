import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { expect, test } from 'vitest'

import type { Deadlock } from '../../src/core/deadlock.ts'
import type { LockKey } from '../../src/core/key.ts'
import { until } from '../engines/use.ts'
import { meetingOf } from '../stories/meeting.ts'
import { change, collide, describeLibraries, lossOf, once, run, seenWhole, type Stage } from './stage.ts'

describeLibraries(specs)

function specs(stage: Stage): void {
  /** The table as the server calls it. */
  const called = (table: string): RegExp => new RegExp(`(?:^|[ .])${table}\\b`)

  test('rows against rows: both tables, both statements, and the victim', async () => {
    const { deadlock, error, rival } = await seenWhole(async () => {
      const one = await stage.rival()
      const loss = await lossOf(collide(stage, one))
      await one.rollback()
      return { ...loss, rival: one.id }
    })
    expect(error.kind).toBe('deadlock')
    expect(deadlock.dialect).toBe(stage.name)
    const [victim, other] = deadlock.sessions
    expect(deadlock.sessions.map(({ isVictim }) => isVictim)).toEqual([true, false])
    expect(other?.id).toBe(rival)
    expect(victim?.statement).toBe(change('stock', 4))
    expect(other?.statement).toBe(change('orders', 3))
    expect(victim?.waits?.lock.on).toMatch(called('stock'))
    expect(victim?.waits?.blockedBy).toEqual([rival])
    expect(other?.waits?.blockedBy).toEqual([victim?.id])
    expect(deadlock.unseen).toEqual([])
    const told = [other?.waits?.lock.on, ...(victim?.ran ?? []), ...(other?.holds ?? []).map(({ on }) => on)]
    expect(told.some((text) => called('orders').test(text ?? ''))).toBe(true)
  })

  test('an attempt that is repeated tells nobody but those who listen', async () => {
    const heard: Deadlock[] = []
    const listen = (message: unknown): void => void heard.push(message as Deadlock)
    const first = await stage.rival()
    await collide(stage, first, { attempts: 2 })
    await first.rollback()
    const { deadlock } = await seenWhole(async () => {
      heard.length = 0
      const rival = await stage.rival()
      subscribe('holdfast:deadlock', listen)
      await collide(stage, rival, { attempts: 2 }).finally(() => unsubscribe('holdfast:deadlock', listen))
      await rival.rollback()
      expect(heard).toHaveLength(1)
      return { deadlock: heard[0] }
    })
    expect(deadlock?.sessions.map(({ statement }) => statement)).toEqual([
      change('stock', 4),
      change('orders', 3),
    ])
  })

  const ofThree = async () => {
    const [first, second] = [await stage.rival(), await stage.rival('weight2')]
    await run(first, change('stock', 1))
    await run(second, change('stock', 1, 2))
    const waiting: Promise<unknown>[] = []
    const loss = await lossOf(
      stage.way.locks.transaction(async (tx) => {
        await stage.way.run(tx, change('orders', 2))
        waiting.push(run(second, change('orders', 3)))
        await until(() => stage.engine.isWaiting(second), 'the second waiting')
        waiting.push(run(first, change('stock', 3, 2)))
        await until(() => stage.engine.isWaiting(first), 'the first waiting')
        await stage.way.run(tx, change('stock', 4))
      }, once),
    )
    await waiting[0]
    await second.rollback()
    await Promise.all(waiting)
    await first.rollback()
    return { ...loss, others: [first.id, second.id] }
  }

  test('a deadlock of three tells all three, each waiting for the next', async () => {
    const { deadlock, others } = await seenWhole(ofThree)
    expect(deadlock.sessions.slice(1).map(({ id }) => id)).toEqual(others)
    expect(deadlock.sessions.map(({ waits }) => waits?.blockedBy[0])).toEqual([
      ...others,
      deadlock.sessions[0]?.id,
    ])
    expect(deadlock.sessions.map(({ isVictim }) => isVictim)).toEqual([true, false, false])
  })

  test('names against names: both keys in clear, both statements, and the victim', async () => {
    const { locks } = stage.way
    const [left, right] = [
      ['left', stage.name, 1],
      ['right', stage.name, 2],
    ] as const
    const { deadlock } = await seenWhole(async () => {
      const meeting = meetingOf(2)
      const take = (outer: LockKey, inner: LockKey): Promise<void> =>
        locks.withLock(
          outer,
          async (tx) => {
            await meeting.meet()
            await locks.lock(tx, inner)
          },
          once,
        )
      const outcomes = await Promise.allSettled([take(left, right), take(right, left)])
      const [lost] = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      return lossOf(Promise.reject(lost ?? new Error('nobody has lost')))
    })
    expect(deadlock.sessions.map(({ waits }) => String(waits?.lock.key)).toSorted()).toEqual(
      [left, right].map((key) => key.join('.')).toSorted(),
    )
    expect(deadlock.sessions.map(({ isVictim }) => isVictim)).toEqual([true, false])
    const [victim, other] = deadlock.sessions
    expect(victim?.holds.map(({ key }) => key)).toContain(other?.waits?.lock.key)
    expect(victim?.statement).toMatch(/lock\(/i)
  })
}
