import { expect, test } from 'vitest'

import type { Session } from '../../src/core/session.ts'
import { until } from '../engines/use.ts'
import { caught, describeSessionLocks } from './stage.ts'

/** The server has answered a statement that takes a lock; what happens before the caller reads it. */
function afterTaking(happens: () => void): (session: Session) => Session {
  return (session) => ({
    ...session,
    run: async (statement) => {
      const rows = await session.run(statement)
      if ('sql' in statement && /advisory_lock|get_lock/i.test(statement.sql)) happens()
      return rows
    },
  })
}

describeSessionLocks((stage) => {
  const reason = new Error('for the test')
  const fail = (): never => {
    throw reason
  }
  const isFreeFor = async (key: readonly (string | number)[]): Promise<void> =>
    (await stage.party().acquire(key, { wait: { timeoutMs: 10_000 } })).release()

  for (const wait of ['nowait', 'block', { timeoutMs: 5000 }] as const) {
    const how = typeof wait === 'object' ? 'a timeout' : wait
    test(`${how}: a lock that was granted when the wait was aborted is given back`, async () => {
      const aborting = new AbortController()
      const a = stage.party({ change: afterTaking(() => aborting.abort(reason)) })
      expect(await caught(a.acquire(stage.key(), { wait, signal: aborting.signal }))).toBe(reason)
      await until(async () => (await stage.onServer()).held === 0, 'a server without the lock')
      await isFreeFor(stage.key())
    })

    test(`${how}: a lock whose grant arrives as an error is given back`, async () => {
      const a = stage.party({ change: afterTaking(fail), max: 1 })
      expect(await caught(a.acquire(stage.key(), { wait }))).toBe(reason)
      expect(await stage.onServer()).toMatchObject({ held: 0 })
      await isFreeFor(stage.key())
    })

    test(`${how}: neither disturbs a lock on the same connection`, async () => {
      let happens = (): void => {}
      const aborting = new AbortController()
      const a = stage.party({ change: afterTaking(() => happens()) })
      const other = await a.acquire(stage.key('other'))
      happens = () => aborting.abort(reason)
      expect(await caught(a.acquire(stage.key(), { wait, signal: aborting.signal }))).toBe(reason)
      await until(async () => (await stage.onServer()).held === 1, 'a server with the other lock alone')
      happens = fail
      expect(await caught(a.acquire(stage.key(), { wait }))).toBe(reason)
      await until(async () => (await stage.onServer()).held === 1, 'a server with the other lock alone')
      expect(other.signal.aborted).toBe(false)
      expect(a.opened).toHaveLength(1)
      await other.release()
    })
  }

  test('a lock that is granted to a waiter when it is aborted, or as an error, is given back', async () => {
    for (const isAborted of [true, false]) {
      const aborting = new AbortController()
      const happens = { now: (): void => {} }
      const [a, b] = [stage.party(), stage.party({ change: afterTaking(() => happens.now()) })]
      const held = await a.acquire(stage.key())
      const waiting = caught(b.acquire(stage.key(), { signal: aborting.signal }))
      await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
      happens.now = isAborted ? () => aborting.abort(reason) : fail
      await held.release()
      expect(await waiting).toBe(reason)
      await until(async () => (await stage.onServer()).held === 0, 'a server without the lock')
      await isFreeFor(stage.key())
    }
  })
})
