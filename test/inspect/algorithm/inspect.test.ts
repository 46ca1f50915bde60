import { expect, test } from 'vitest'

import type { Inspection, SessionSeen } from '../../../src/core/inspection.ts'
import { identify } from '../../../src/locks/identify.ts'
import { createInspect, type Inspect } from '../../../src/locks/inspect.ts'
import { findDialect, type DialectName } from '../../../src/registry.ts'
import { until } from '../../engines/use.ts'
import { gate } from '../../entries/stage.ts'
import { describeInspect, type Process } from './stage.ts'

let keys = 0
/** Longer than what a name shows of it, and not all in one case. */
const fresh = (): readonly (string | number)[] => [
  'Inspect',
  process.pid,
  (keys += 1),
  'with quite a long tail',
]

/** As a process looks that has never asked for the keys. */
function asStranger({ sessions }: Process, name: string): Inspect {
  const server = identify({ dialects: [findDialect(name as DialectName)], version: undefined })
  return createInspect({ sessions, server }, [])
}

describeInspect((stage) => {
  test('a lease is seen with its whole key, its owner and its end, until it is released', async () => {
    const { locks } = await stage.process()
    const key = fresh()
    const lease = await locks.lease(key, { ttlMs: 20_000 })
    const ours = ({ leases }: Inspection): Inspection['leases'] =>
      leases.filter((seen) => seen.key === key.join('.'))
    const inspection = await locks.inspect()
    expect(inspection.dialect).toBe(stage.name)
    expect(ours(inspection)).toMatchObject([{ fence: lease.fence, owner: expect.any(String) }])
    const remainingMs = ours(inspection)[0]?.remainingMs ?? 0
    expect(remainingMs).toBeGreaterThan(0)
    expect(remainingMs).toBeLessThanOrEqual(20_000)
    await lease.release()
    expect(ours(await locks.inspect())).toEqual([])
  })

  test('a stranger sees what the name tells of the key, and all of it when told which keys may be held', async () => {
    const owner = await stage.process()
    const key = fresh()
    const lease = await owner.locks.lease(key)
    const inspect = asStranger(await stage.process(), stage.name)
    const keyOf = async (options?: Parameters<Inspect>[0]): Promise<string | undefined> =>
      (await inspect(options)).leases.find(({ fence }) => fence === lease.fence)?.key
    expect(await keyOf()).toBe(key.join('.').toLowerCase().replaceAll(' ', '_').slice(0, 28))
    expect(await keyOf({ keys: [['another'], key] })).toBe(key.join('.'))
    await lease.release()
  })

  test('looking takes no connection for good and leaves nothing behind', async () => {
    const { locks } = await stage.process()
    for (let look = 0; look < 20; look += 1) await locks.inspect({ scope: look % 2 ? 'server' : 'database' })
    await until(
      async () => (await stage.engine.leftovers()).length === 0,
      'an engine on which nothing is left',
    )
  })
})

describeInspect(
  (stage) => {
    test('whoever holds a name and whoever waits for it are seen by the key, until the lock is free', async () => {
      const [first, second, observer] = [await stage.process(), await stage.process(), await stage.process()]
      const key = fresh()
      const [held, done] = [gate(), gate()]
      const holding = first.locks.withLock(key, async () => {
        held.open()
        await done.opened
      })
      await held.opened
      const before = inLine(await observer.locks.inspect(), key)
      expect(before.holders).toHaveLength(1)
      expect(before.waiters).toEqual([]) // control: nobody waits yet
      const waiting = second.locks.withLock(key, async () => 'mine')
      await until(
        async () => inLine(await observer.locks.inspect(), key).waiters.length === 1,
        'a waiter that is seen',
      )
      const { holders, waiters } = inLine(await observer.locks.inspect(), key)
      expect(waiters[0]?.state).toBe('waiting')
      expect(waiters[0]?.waits?.waitedMs).toBeGreaterThanOrEqual(0)
      expect(waiters[0]?.waits?.blockedBy).toEqual(holders.map(({ id }) => id))
      const stranger = asStranger(observer, stage.name)
      expect(inLine(await stranger(), key).waiters).toEqual([])
      expect(inLine(await stranger({ keys: [key] }), key).waiters).toHaveLength(1)
      done.open()
      await holding
      expect(await waiting).toBe('mine')
      await until(async () => {
        const after = inLine(await observer.locks.inspect(), key)
        return after.holders.length + after.waiters.length === 0
      }, 'nobody who holds or waits')
    })

    test('a lock that is kept by a connection is seen by its key', async () => {
      const { locks } = await stage.process()
      const key = fresh()
      const held = await locks.acquire(key)
      expect(inLine(await locks.inspect(), key).holders).toHaveLength(1)
      await held.release()
      expect(inLine(await locks.inspect(), key).holders).toEqual([])
    })
  },
  ['postgres', 'mysql', 'mariadb'],
)

function inLine(
  { sessions }: Inspection,
  key: readonly (string | number)[],
): { readonly holders: readonly SessionSeen[]; readonly waiters: readonly SessionSeen[] } {
  const text = key.join('.')
  return {
    holders: sessions.filter(({ holds }) => holds.some((lock) => lock.key === text)),
    waiters: sessions.filter(({ waits }) => waits?.lock.key === text),
  }
}

describeInspect(
  (stage) => {
    test('those of this process who take turns to write are seen, and the rest is told as unseen', async () => {
      const { locks } = await stage.process()
      const [begun, done] = [gate(), gate()]
      const writing = locks.transaction(async () => {
        begun.open()
        await done.opened
      })
      await begun.opened
      const next = locks.transaction(async () => 'next')
      const { sessions, unseen } = await locks.inspect()
      expect(sessions).toMatchObject([
        { state: 'active', holds: [{ kind: 'database' }] },
        { state: 'waiting', waits: { blockedBy: [sessions[0]?.id] } },
      ])
      expect(unseen).toEqual([expect.stringContaining('write lock')])
      done.open()
      await Promise.all([writing, next])
      expect((await locks.inspect()).sessions).toEqual([])
    })
  },
  ['sqlite'],
)
