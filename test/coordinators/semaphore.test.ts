import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterEach, describe, expect, test } from 'vitest'

import type { Coordinator } from '../../src/coordinator.ts'
import { LockLostError, LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import { createLeases as onEtcd, type EtcdFetch } from '../../src/entries/etcd.ts'
import { createLeases as onRedis, type NodeRedisClient, type Permit } from '../../src/entries/redis.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer, type Skip } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'
import { endpointsOf } from './etcd-keys.ts'
import { nodeRedis, type OpenedRedis } from './redis-clients.ts'
import { startRedisCluster } from './redis-cluster.ts'

const redis = useExtraServer(() => startRedis())
const etcd = useExtraServer(() => startEtcd())

const opened: OpenedRedis[] = []
afterEach(async () => void (await Promise.all(opened.splice(0).map(({ close }) => close()))))

/** Leases through a client that counts what it sends. */
interface Counting {
  readonly leases: Coordinator
  readonly sent: () => number
}

async function countingRedis(skip: Skip): Promise<Counting> {
  const one = await nodeRedis.open(redis(skip).server.url)
  opened.push(one)
  const real = one.client as NodeRedisClient
  let sent = 0
  const client: NodeRedisClient = {
    eval: (script, on) => ((sent += 1), real.eval(script, on)),
    evalSha: (sha, on) => ((sent += 1), real.evalSha(sha, on)),
    duplicate: () => real.duplicate(),
  }
  return { leases: onRedis(client), sent: () => sent }
}

async function countingEtcd(skip: Skip): Promise<Counting> {
  let sent = 0
  const counting: EtcdFetch = (url, init) => ((sent += 1), fetch(url, init))
  return { leases: onEtcd({ endpoints: endpointsOf(etcd(skip)), fetch: counting }), sent: () => sent }
}

describe.each([
  { server: 'Redis', join: countingRedis },
  { server: 'etcd', join: countingEtcd },
])('on $server', ({ join }) => {
  test('of twelve that ask at once, three at a time have a permit, in the order of asking', async ({
    skip,
  }) => {
    const { leases } = await join(skip)
    const semaphore = leases.semaphore(randomUUID(), { permits: 3 })
    const order: number[] = []
    let [inside, most] = [0, 0]
    const work = (place: number): Promise<void> =>
      semaphore.withPermit(async (permit) => {
        order.push(place)
        most = Math.max(most, (inside += 1))
        await permit.extend() // gives others the time to come in
        inside -= 1
      })
    await Promise.all(Array.from({ length: 12 }, (_, place) => work(place)))
    expect(most).toBeLessThanOrEqual(3)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
  })

  test('one request looks at a hundred permits, and says that all are taken', async ({ skip }) => {
    const { leases, sent } = await join(skip)
    const semaphore = leases.semaphore(randomUUID(), { permits: 100, renew: false })
    const all = await Promise.all(Array.from({ length: 100 }, () => semaphore.acquire()))
    expect(new Set(all.map(({ slot }) => slot)).size).toBe(100)
    const before = sent()
    const error = await caught(semaphore.acquire({ wait: 'nowait' }))
    expect(error).toMatchObject({ message: /all 100 permits are taken/ })
    expect(sent() - before).toBe(1)
    await Promise.all(all.map((permit) => permit.release()))
  })

  test('a look at a thousand permits finds a free one, and more cannot be named', async ({ skip }) => {
    const { leases } = await join(skip)
    const key = randomUUID()
    let permits = 3
    const semaphore = leases.semaphore(key, { permits: () => permits })
    const few = [await semaphore.acquire(), await semaphore.acquire(), await semaphore.acquire()]
    expect(await semaphore.tryAcquire()).toBeNull()
    permits = 1000
    const more = await semaphore.acquire({ wait: 'nowait' })
    expect(more.slot).toBeGreaterThan(2)
    expect(() => leases.semaphore(key, { permits: 1001 })).toThrow(LockUsageError)
    for (const permit of [...few, more]) await permit.release()
  })

  test('who gives up at any moment leaves neither a permit nor its place behind', async ({ skip }) => {
    const { leases } = await join(skip)
    const semaphore = leases.semaphore(randomUUID(), { permits: 2 })
    const held = [await semaphore.acquire(), await semaphore.acquire()]
    for (let turns = 0; turns < 400; turns += 10) {
      const giveUp = new AbortController()
      const refused = caught(semaphore.acquire({ signal: giveUp.signal }))
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      giveUp.abort(new Error('changed my mind'))
      expect(await refused).toBe(giveUp.signal.reason)
    }
    for (const permit of held) await permit.release()
    const next: Permit[] = []
    const takeNext = async (): Promise<boolean> => {
      const permit = await semaphore.tryAcquire()
      return permit !== null && next.push(permit) === 2
    }
    // whoever gave up does not wait until the server has heard of it
    await until(takeNext, 'both permits')
    expect(await semaphore.tryAcquire()).toBeNull()
    for (const permit of next) await permit.release()
  })

  test('a permit that is lost is told to its holder, and the next one has a higher fence', async ({
    skip,
  }) => {
    const { leases } = await join(skip)
    const key = randomUUID()
    const first = await leases.semaphore(key, { permits: 1, ttlMs: 1000, renew: false }).acquire()
    const next = await leases.semaphore(key, { permits: 1 }).acquire()
    expect(next.slot).toBe(first.slot)
    expect(next.fence).toBeGreaterThan(first.fence)
    expect(await caught(first.extend())).toBeInstanceOf(LockLostError)
    await first.release()
    next.throwIfLost()
    expect(await leases.semaphore(key, { permits: 1 }).tryAcquire()).toBeNull()
    await next.release()
  })

  test('a lease and a semaphore of one key know nothing of each other', async ({ skip }) => {
    const { leases } = await join(skip)
    const key = randomUUID()
    const lease = await leases.lease(key)
    const permit = await leases.semaphore(key, { permits: 1 }).acquire({ wait: 'nowait' })
    expect(await caught(leases.lease(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await permit.release()
    await lease.release()
  })
})

describe('on a cluster of Redis', () => {
  const cluster = useExtraServer(startRedisCluster)

  test('all leases of a semaphore are in one slot, through both clients', async ({ skip }) => {
    const { url } = cluster(skip).server
    const byIoredis = new Cluster([{ host: '127.0.0.1', port: Number(new URL(url).port) }])
    const byRedis = createCluster({ rootNodes: [{ url }] })
    await byRedis.connect()
    const [one, other] = [onRedis(byIoredis), onRedis(byRedis)]
    for (const key of ['a', 'b', 'c', 'd']) {
      const first = await one.semaphore(key, { permits: 2 }).acquire()
      const second = await other.semaphore(key, { permits: 2 }).acquire()
      expect(second.slot).not.toBe(first.slot)
      expect(await one.semaphore(key, { permits: 2 }).tryAcquire()).toBeNull()
      const waiting = other.semaphore(key, { permits: 2 }).acquire()
      await first.release()
      expect((await waiting).slot).toBe(first.slot)
      await (await waiting).release()
      await second.release()
    }
    byRedis.destroy()
    byIoredis.disconnect()
  })

  test.for(['a{b:', '{}:'])('a prefix whose braces scatter them is refused: %s', async (prefix, { skip }) => {
    const { url } = cluster(skip).server
    const client = createCluster({ rootNodes: [{ url }] })
    await client.connect()
    const error = await caught(onRedis(client, { prefix }).semaphore('k', { permits: 2 }).acquire())
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field: 'prefix', message: /braces/ })
    client.destroy()
  })
})
