import { expect, test } from 'vitest'

import {
  LockLostError,
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
} from '../../src/core/errors.ts'
import { deferred } from '../../src/conformance/deferred.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { permitNames } from '../../src/core/permit-name.ts'
import { sql } from '../../src/dialects/sql.ts'
import type { Semaphore } from '../../src/locks/semaphore/semaphore.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeFaults, type Stage } from '../faults/stage.ts'
import { briefly } from '../leases/briefly.ts'

describeFaults(specs)

function specs(stage: Stage): void {
  const doorOf = (key: readonly (string | number)[]): string => permitNames(chosenLeaseName(key)).door
  const untilAtDoor = (key: readonly (string | number)[]): Promise<void> =>
    until(async () => typeof (await stage.leaseOf(doorOf(key)))?.owner === 'string', 'somebody at the door')

  /** Twelve ask at once. Gives how many had a permit at a time, and in which order they had it. */
  const crowd = async (semaphore: Semaphore): Promise<{ most: number; order: readonly number[] }> => {
    const order: number[] = []
    let inside = 0
    let most = 0
    const work = async (place: number): Promise<void> => {
      await semaphore.withPermit(async (permit) => {
        order.push(place)
        most = Math.max(most, (inside += 1))
        await permit.extend() // gives others the time to come in
        inside -= 1
      })
    }
    await Promise.all(Array.from({ length: 12 }, (_, place) => work(place)))
    return { most, order }
  }

  test('of twelve that ask at once in one process, three at a time have a permit, in the order of asking', async () => {
    const { locks } = await stage.shop()
    const { most, order } = await crowd(locks.semaphore(stage.key(), { permits: 3 }))
    expect(most).toBeLessThanOrEqual(3)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test('it is the semaphore that keeps them apart: with twelve permits more of them have one at a time', async () => {
    const { locks } = await stage.shop()
    const semaphore = locks.semaphore(stage.key(), { permits: 12 })
    const all = await Promise.all(Array.from({ length: 12 }, () => semaphore.acquire()))
    expect(new Set(all.map(({ slot }) => slot)).size).toBe(12)
    for (const permit of all) await permit.release()
  })

  test('a wait that takes too long, and one that is not made, end with an error that names the semaphore', async () => {
    const { locks } = await stage.shop()
    const key = stage.key()
    const semaphore = locks.semaphore(key, { permits: 1 })
    const held = await semaphore.acquire()
    const late = await caught(semaphore.acquire({ wait: { timeoutMs: 300 } }))
    expect(late).toBeInstanceOf(LockTimeoutError)
    expect(late).toMatchObject({
      key,
      timeoutMs: 300,
      // and why, where the last look was not answered in time
      message: expect.stringContaining(
        `permit of semaphore ${JSON.stringify(key)} not acquired within 300 ms`,
      ),
    })
    expect((late as LockTimeoutError).waitedMs).toBeGreaterThanOrEqual(299)
    const busy = await caught(semaphore.acquire({ wait: 'nowait' }))
    expect(busy).toBeInstanceOf(LockNotAvailableError)
    expect(busy).toMatchObject({
      key,
      message: `permit of semaphore ${JSON.stringify(key)} not acquired: the only permit is taken`,
    })
    await held.release()
  })

  test('tryAcquire gets nothing that somebody of the same process has asked for before', async () => {
    const { locks } = await stage.shop()
    // whose answer comes first is a matter of luck: one time in two on some databases
    for (let round = 0; round < 12; round += 1) {
      const semaphore = locks.semaphore(stage.key(), { permits: 1 })
      const first = semaphore.acquire()
      const tried = await semaphore.tryAcquire()
      await tried?.release()
      await (await first).release()
      expect(tried).toBeNull()
    }
  })

  test('tryAcquire behind one who asks has a permit where there is another, and null as soon as that one waits', async () => {
    const { locks } = await stage.shop()
    const semaphore = locks.semaphore(stage.key(), { permits: 2 })
    const [first, second] = await Promise.all([semaphore.acquire(), semaphore.tryAcquire()])
    expect(new Set([first.slot, second?.slot])).toEqual(new Set([0, 1]))
    const third = semaphore.acquire()
    expect(await semaphore.tryAcquire()).toBeNull()
    await first.release()
    await (await third).release()
    await second?.release()
  })

  test('who gives up at the door leaves it to the next, and holds nothing', async () => {
    const [a, b, c] = [await stage.shop(), await stage.shop(), await stage.shop()]
    const key = stage.key()
    const held = await a.locks.semaphore(key, { permits: 1 }).acquire()
    const giveUp = new AbortController()
    const first = caught(b.locks.semaphore(key, { permits: 1 }).acquire({ signal: giveUp.signal }))
    await untilAtDoor(key)
    expect(await c.locks.semaphore(key, { permits: 2 }).tryAcquire()).toBeNull()
    const second = c.locks.semaphore(key, { permits: 1 }).acquire()
    giveUp.abort(new Error('changed my mind'))
    expect(await first).toBe(giveUp.signal.reason)
    await held.release()
    await (await second).release()
  })

  test('a second release does nothing to the next holder', async () => {
    const { locks } = await stage.shop()
    const semaphore = locks.semaphore(stage.key(), { permits: 1 })
    const first = await semaphore.acquire()
    await first.release()
    const second = await semaphore.acquire()
    await first.release()
    expect(second.slot).toBe(first.slot)
    expect(await semaphore.tryAcquire()).toBeNull()
    await second.extend()
    await second.release()
  })

  const blocking: Readonly<Record<string, readonly string[]>> = {
    sqlite: ['BEGIN IMMEDIATE', 'ROLLBACK'],
    postgres: ['BEGIN; LOCK TABLE _leases', 'ROLLBACK'],
    mysql: ['LOCK TABLES _leases WRITE', 'UNLOCK TABLES'],
    mariadb: ['LOCK TABLES _leases WRITE', 'UNLOCK TABLES'],
  }
  const [block, unblock] = blocking[stage.name] ?? []

  test.runIf(block)('that the database does not answer is not told as that no permit is free', async () => {
    const { locks } = await stage.shop()
    const semaphore = locks.semaphore(stage.key(), { permits: 2 })
    const session = await stage.engine.open()
    await session.run(sql(block ?? ''))
    const error = await caught(semaphore.tryAcquire())
    await session.run(sql(unblock ?? ''))
    await session.close()
    expect(error).toBeInstanceOf(LockNotAvailableError)
    expect((error as Error).message).toMatch(/the database is busy/)
    await (await semaphore.acquire()).release()
  })

  test('a process that died at the door holds up the others only until the door opens by itself', async () => {
    const { locks } = await stage.shop()
    const key = stage.key()
    const session = await stage.engine.open()
    const { lease } = registry[stage.name as DialectName]
    for (const statement of lease.acquire({ name: doorOf(key), owner: 'dead', ttlMs: 1500 }))
      await session.run(statement)
    await session.close()
    const semaphore = locks.semaphore(key, { permits: 3 })
    const permit = await semaphore.acquire({ wait: { timeoutMs: 60_000 } })
    expect((await stage.leaseOf(doorOf(key)))?.owner).not.toBe('dead')
    await permit.release()
  })

  test('a permit that nobody renews comes back, and what its holder writes then is refused', async () => {
    const { locks } = await stage.shop()
    const key = stage.key()
    const forgotten = await briefly((ttlMs) =>
      locks.semaphore(key, { permits: 1, ttlMs, renew: false }).acquire(),
    )
    const next = await locks.semaphore(key, { permits: 1 }).acquire({ wait: { timeoutMs: 60_000 } })
    expect(next.fence).toBeGreaterThan(forgotten.fence)
    expect(await caught(locks.fenced(forgotten, async () => 'written'))).toBeInstanceOf(LockLostError)
    await next.release()
  })

  // a transaction of SQLite that writes keeps everybody waiting who writes
  test.skipIf(stage.name === 'sqlite')(
    'a permit that has expired under an open transaction holds up nobody for whom another one is free',
    async () => {
      const { locks } = await stage.shop()
      const key = stage.key()
      const semaphore = locks.semaphore(key, { permits: 2 })
      const other = await semaphore.acquire()
      const entered = deferred<void>()
      const leave = deferred<void>()
      const brief = await locks.semaphore(key, { permits: 2, ttlMs: 10_000, renew: false }).acquire()
      const writing = locks.fenced(brief, () => (entered.resolve(), leave.promise))
      await entered.promise
      const next = semaphore.acquire()
      await until(() => brief.remainingMs() === 0, 'the end of the permit')
      await other.release()
      expect((await next).slot).toBe(other.slot)
      leave.resolve()
      await writing.catch(() => {}) // it may be refused at its end
      await (await next).release()
      await brief.release()
    },
  )

  test('more permits are found by one who waits already', async () => {
    const { locks } = await stage.shop()
    let permits = 1
    const semaphore = locks.semaphore(stage.key(), { permits: () => permits })
    const first = await semaphore.acquire()
    const second = semaphore.acquire()
    permits = 2
    expect((await second).slot).toBe(1)
    await (await second).release()
    await first.release()
  })

  test('a pool of one connection is enough to wait, to work and to let go', async () => {
    const { locks } = await stage.shop(1)
    const semaphore = locks.semaphore(stage.key(), { permits: 2 })
    const { most } = await crowd(semaphore)
    expect(most).toBeLessThanOrEqual(2)
    await semaphore.withPermit((permit) =>
      locks.fenced(permit, async () => expect(permit.slot).toBeLessThan(2)),
    )
  })

  test('whoever looks at the locks sees each permit by the key and its slot', async () => {
    const { locks } = await stage.shop()
    const key = stage.key('Mail & Post')
    const permit = await locks.semaphore(key, { permits: 1 }).acquire()
    const { leases } = await locks.inspect()
    const seen = leases.find(({ owner }) => owner === permit.owner)
    expect(seen?.key).toBe(`${key.join('.')} (permit 0)`)
    await permit.release()
  })

  test('what a semaphore cannot be is refused when it is made', async () => {
    const { locks } = await stage.shop()
    for (const permits of [0, -1, 1.5, 1001, Number.NaN, '5', undefined, null])
      expect(() => locks.semaphore('k', { permits: permits as number })).toThrow(LockUsageError)
    expect(() => locks.semaphore('k', { permits: 1, wait: 'nowait' } as never)).toThrow(/wait/)
    expect(() => locks.semaphore('', { permits: 1 })).toThrow(LockUsageError)
    expect(() => locks.semaphore({ raw: 'bigint', value: 1n } as never, { permits: 1 })).toThrow(
      LockUsageError,
    )
    const semaphore = locks.semaphore('k', { permits: 1 })
    expect(await caught(semaphore.acquire({ timeoutMs: 5 } as never))).toBeInstanceOf(LockUsageError)
    expect(await caught(semaphore.tryAcquire({ wait: 'block' } as never))).toBeInstanceOf(LockUsageError)
    expect(await caught(semaphore.withPermit('work' as never))).toBeInstanceOf(LockUsageError)
  })
}
