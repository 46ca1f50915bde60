import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { Cluster } from 'ioredis'
import { createClient, createCluster, RESP_TYPES } from 'redis'
import { afterEach, describe, expect, test } from 'vitest'

import { leaseCommands } from '../../src/coordinators/redis/lease.ts'
import { sessions } from '../../src/coordinators/redis/sessions.ts'
import { LockLostError, LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { createLeases } from '../../src/entries/redis.ts'
import { createTestLocks } from '../../src/entries/testing.ts'
import type { StartedServer } from '../engines/engine.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'
import { useHolders } from './holders.ts'
import { ioredis, nodeRedis, type OpenedRedis, type RedisWay, lose } from './redis-clients.ts'
import { startEmptyCluster, startRedisCluster } from './redis-cluster.ts'

const opened: OpenedRedis[] = []
const started: StartedServer[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close()))
  await Promise.all(started.splice(0).map(({ stop }) => stop()))
})

async function open(way: RedisWay, url: string): Promise<OpenedRedis> {
  const redis = await way.open(url)
  opened.push(redis)
  return redis
}

/** A server of its own for one test. */
async function start(...settings: string[]): Promise<StartedServer> {
  const server = await startRedis('redis', settings)
  started.push(server)
  return server
}

/** Its members speak on a port of their own, which would be 10,000 higher than the first: there may be none. */
async function startCluster(begin: () => Promise<StartedServer>): Promise<StartedServer> {
  const cluster = await begin()
  started.push(cluster)
  return cluster
}

const shared = useExtraServer(() => startRedis())
const hold = useHolders(new URL('redis-holder.ts', import.meta.url))

describe.each([ioredis, nodeRedis])('through $title', (way) => {
  test('each operation is one command, whose script travels once', async ({ skip }) => {
    shared(skip)
    const { server } = await start()
    const { client, send } = await open(way, server.url)
    const leases = createLeases(client)
    const first = await leases.lease('a')
    await first.extend()
    await first.release()
    const stats = async (): Promise<string> => String(await send('INFO', 'commandstats'))
    const callsOf = async (command: string): Promise<number> =>
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await stats())?.[1] ?? 0)
    const [before, texts] = [await callsOf('evalsha'), await callsOf('eval')]
    expect(texts).toBe(3)
    const second = await leases.lease('b')
    await second.extend()
    await second.release()
    expect(await callsOf('evalsha')).toBe(before + 3)
    expect(await callsOf('eval')).toBe(3)
  })

  test("a lease that was released before its time is nobody's, and cannot be had", async ({ skip }) => {
    const leases = createLeases((await open(way, shared(skip).server.url)).client)
    const [key, free] = [randomUUID(), randomUUID()]
    await (await leases.lease(free)).release()
    await (await leases.lease(free, { wait: 'nowait' })).release()
    const { fence, release } = await leases.lease(key, { holdAtLeastMs: 600_000 })
    await release()
    expect(await leases.inspect({ keys: [key, free] })).toMatchObject([{ owner: undefined, fence }])
    expect(await caught(leases.lease(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
  })

  test('a server that has forgotten its scripts is told them again', async ({ skip }) => {
    const { client, send } = await open(way, shared(skip).server.url)
    const leases = createLeases(client)
    const lease = await leases.lease(randomUUID())
    await send('SCRIPT', 'FLUSH')
    await lease.extend()
    await send('SCRIPT', 'FLUSH')
    await lease.release()
  })

  test('a claim that a client has sent twice is granted once, with one fence', async ({ skip }) => {
    const { client } = await open(way, shared(skip).server.url)
    const session = await sessions(client, 'holdfast:').open()
    const claim = { name: randomUUID(), owner: randomUUID(), ttlMs: 60_000 }
    const [statement] = leaseCommands('holdfast:').acquire(claim)
    const twice = [statement, statement].flatMap((one) => (one === undefined ? [] : [session.run(one)]))
    const [[first] = [], [second] = []] = await Promise.all(twice)
    expect(first).toMatchObject({ answer: '1' })
    expect(second).toMatchObject({ answer: '1', fence: first?.fence })
  })

  test('a release is heard of by who waits, on a connection of its own that ends with the wait', async ({
    skip,
  }) => {
    shared(skip)
    const { server } = await start()
    const [holder, waiter] = [await open(way, server.url), await open(way, server.url)]
    const channels = async (): Promise<unknown> => holder.send('PUBSUB', 'CHANNELS')
    const lease = await createLeases(holder.client).lease('k')
    const waiting = createLeases(waiter.client).lease('k')
    await until(async () => String(await channels()) === 'holdfast:leases', 'somebody who listens')
    await lease.release()
    await (await waiting).release()
    await until(async () => String(await channels()) === '', 'nobody who listens')
  })

  test('a broken connection of who listens is made anew', async ({ skip }) => {
    shared(skip)
    const { server } = await start()
    const [holder, waiter] = [await open(way, server.url), await open(way, server.url)]
    const lease = await createLeases(holder.client).lease('k')
    const waiting = createLeases(waiter.client).lease('k')
    const listeners = async (): Promise<string> =>
      String(await holder.send('CLIENT', 'LIST', 'TYPE', 'pubsub'))
    const idOf = (list: string): string | undefined => /\bid=(\d+)/.exec(list)?.[1]
    await until(async () => idOf(await listeners()) !== undefined, 'somebody who listens')
    const broken = idOf(await listeners()) ?? ''
    await holder.send('CLIENT', 'KILL', 'ID', broken)
    await until(async () => ![undefined, broken].includes(idOf(await listeners())), 'who listens again')
    await lease.release()
    await (await waiting).release()
  })

  test('a replica is refused, and the error says what it is', async ({ skip }) => {
    const primary = shared(skip).server
    const { server } = await start('--replicaof', '127.0.0.1', new URL(primary.url).port)
    const leases = createLeases((await open(way, server.url)).client)
    const error = await caught(leases.lease(randomUUID(), { wait: 'nowait' }))
    expect(error).toMatchObject({ message: /it is a replica.*connect to the primary \(READONLY\)/ })
  })

  test('a replica that has lost its primary is refused, and the error says so', async ({ skip }) => {
    shared(skip)
    const { server } = await start('--replicaof', '127.0.0.1', '1', '--replica-serve-stale-data', 'no')
    const leases = createLeases((await open(way, server.url)).client)
    const error = await caught(leases.lease(randomUUID(), { wait: 'nowait' }))
    expect(error).toMatchObject({ message: /lost its primary.*\(MASTERDOWN\)/ })
  })

  test('a missing password is told as a mistake of the call', async ({ skip }) => {
    shared(skip)
    const { server } = await start('--requirepass', 'open-sesame')
    const leases = createLeases((await open(way, server.url)).client)
    const error = await caught(leases.lease('k', { wait: 'nowait' }))
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field: 'client', message: /refuses the user or the password/ })
  })

  test('a user without the rights is told which it needs, and that they are enough', async ({ skip }) => {
    shared(skip)
    const { server } = await start()
    const admin = await open(way, server.url)
    const rights = ['resetkeys', '~holdfast:lease:*', 'resetchannels', '&holdfast:leases', '-@all']
    await admin.send('ACL', 'SETUSER', 'app', 'on', '>secret', ...rights)
    const url = server.url.replace('redis://', 'redis://app:secret@')
    const leases = createLeases((await open(way, url)).client)
    const error = await caught(leases.lease('k', { wait: 'nowait' }))
    expect(error).toBeInstanceOf(LockUsageError)
    const { message } = error as Error
    expect(message).not.toContain('secret')
    const needed = /allow it (.+), the keys/.exec(message)?.[1]?.split(' ') ?? []
    await admin.send('ACL', 'SETUSER', 'app', ...needed)
    const lease = await leases.lease('k')
    const other = createLeases((await open(way, url)).client).lease('k')
    await until(async () => String(await admin.send('PUBSUB', 'CHANNELS')) !== '', 'somebody who listens')
    await lease.release()
    await (await other).release()
  })

  test('a server that does not say whether it evicts is used with a warning', async ({ skip }) => {
    shared(skip)
    const { server } = await start()
    const admin = await open(way, server.url)
    await admin.send('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-info', '-config')
    const url = server.url.replace('redis://', 'redis://app:secret@')
    const warnings: string[] = []
    const listen = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', listen)
    const leases = createLeases((await open(way, url)).client)
    await (await leases.lease('a')).release()
    await (await leases.lease('b')).release()
    await until(() => warnings.length > 0, 'a warning')
    process.off('warning', listen)
    expect(warnings.filter((text) => text.includes('whether it may evict'))).toHaveLength(1)
  })
})

test.for(['allkeys-lru', 'allkeys-lfu', 'allkeys-random'])(
  'a cache is refused: %s',
  async (policy, { skip }) => {
    shared(skip)
    const { server } = await start('--maxmemory-policy', policy)
    const { client, send } = await open(nodeRedis, server.url)
    const error = await caught(createLeases(client).lease('k'))
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field: 'maxmemory-policy', message: new RegExp(policy) })
    expect(await send('DBSIZE')).toBe(0)
  },
)

test('a server that is full of other keys evicts those, and keeps the lease', async ({ skip }) => {
  shared(skip)
  const { server } = await start('--maxmemory', '3mb', '--maxmemory-policy', 'volatile-lru')
  const { client, send } = await open(nodeRedis, server.url)
  const lease = await createLeases(client).lease('k')
  const evicted = async (): Promise<number> =>
    Number(/evicted_keys:(\d+)/.exec(String(await send('INFO', 'stats')))?.[1])
  for (let index = 0; (await evicted()) < 100; index += 1)
    await send('SET', `cache:${index}`, 'x'.repeat(10_000), 'EX', '1000')
  await lease.extend()
  await lease.release()
})

test('a wrong password is in no part of the error, although ioredis notes it there', async ({ skip }) => {
  shared(skip)
  const { server } = await start('--requirepass', 'open-sesame')
  const { client } = await open(ioredis, server.url.replace('redis://', 'redis://:wrong-secret@'))
  const error = await caught(createLeases(client).lease('k', { wait: 'nowait' }))
  expect(error).toBeInstanceOf(LockUsageError)
  expect(error).toMatchObject({ field: 'client', message: /WRONGPASS/ })
  expect(inspect(error, { depth: 10 })).not.toContain('wrong-secret')
})

test("a lease that has expired is nobody's, also when nobody has taken it over", async ({ skip }) => {
  const { client } = await open(nodeRedis, shared(skip).server.url)
  const [leases, key] = [createLeases(client), randomUUID()]
  const lease = await leases.lease(key, { ttlMs: 60_000, renew: false })
  expect(await leases.inspect({ keys: [key] })).toMatchObject([{ owner: lease.owner }])
  await lease.extend(100)
  await until(async () => (await leases.inspect({ keys: [key] })).length === 0, 'no holder')
  const kept = await leases.lease(key, { holdAtLeastMs: 600_000, wait: 'nowait' })
  await kept.release()
  expect(await leases.inspect({ keys: [key] })).toMatchObject([{ owner: undefined, fence: kept.fence }])
})

test('a client that gives bytes for texts is understood', async ({ skip }) => {
  const commandOptions = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }
  const client = createClient({ url: shared(skip).server.url, commandOptions })
  await client.connect()
  const leases = createLeases(client)
  const key = randomUUID()
  const lease = await leases.lease(key, { wait: 'nowait' })
  expect(await leases.inspect({ keys: [key] })).toMatchObject([{ owner: lease.owner, fence: lease.fence }])
  await lease.extend()
  await lease.release()
  client.destroy()
})

test('a script of somebody else that does not end is told', async ({ skip }) => {
  shared(skip)
  const { server } = await start('--lua-time-limit', '1')
  const [one, other] = [await open(nodeRedis, server.url), await open(nodeRedis, server.url)]
  const looping = caught(one.send('EVAL', 'while true do end', '0'))
  const take = async (): Promise<unknown> =>
    (await createLeases(other.client).lease(randomUUID(), { wait: 'nowait' })).release()
  let error: unknown
  await until(async () => (error = await caught(take())) !== 'no error', 'a server that is busy')
  await other.send('SCRIPT', 'KILL')
  await looping
  expect(error).toMatchObject({ message: /busy with a script.*\(BUSY\)/ })
})

describe('a restart', () => {
  test('with an append-only file keeps the lease and its fence', async ({ skip }) => {
    shared(skip)
    const server = await start('--appendonly', 'yes', '--appendfsync', 'always')
    const { client } = await open(nodeRedis, server.server.url)
    const lease = await createLeases(client).lease('k', { ttlMs: 600_000 })
    const again = await server.restart?.()
    if (again !== undefined) started.splice(started.indexOf(server), 1, again)
    const other = createLeases((await open(nodeRedis, server.server.url)).client)
    expect(await caught(other.lease('k', { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await lease.extend()
    await lease.release()
    const next = await other.lease('k')
    expect(next.fence).toBeGreaterThan(lease.fence)
    await next.release()
  })

  test('without one forgets the lease: its holder is told, and the fence rises all the same', async ({
    skip,
  }) => {
    shared(skip)
    const server = await start()
    const { client } = await open(nodeRedis, server.server.url)
    const lease = await createLeases(client).lease('k', { ttlMs: 600_000 })
    const again = await server.restart?.()
    if (again !== undefined) started.splice(started.indexOf(server), 1, again)
    const next = await createLeases((await open(nodeRedis, server.server.url)).client).lease('k')
    expect(next.fence).toBeGreaterThan(lease.fence)
    expect(await caught(lease.extend())).toBeInstanceOf(LockLostError)
    await next.release()
  })
})

test('a failover before the replica has the lease gives it to two, and the second one has the higher fence', async ({
  skip,
}) => {
  shared(skip)
  const primary = await start()
  const replica = await start('--replicaof', '127.0.0.1', new URL(primary.server.url).port)
  const [first, second] = [
    await open(nodeRedis, primary.server.url),
    await open(nodeRedis, replica.server.url),
  ]
  await until(
    async () => /master_link_status:up/.test(String(await second.send('INFO', 'replication'))),
    'a replica that follows',
  )
  // as far as a primary can be whose link has just broken
  await second.send('REPLICAOF', '127.0.0.1', '1')
  const lost = await createLeases(first.client).lease('k', { ttlMs: 60_000, renew: false })
  if (primary.server.pid !== undefined) process.kill(primary.server.pid, 'SIGKILL')
  await second.send('REPLICAOF', 'NO', 'ONE')
  const next = await createLeases(second.client).lease('k', { wait: 'nowait' })
  expect(lost.signal.aborted).toBe(false) // nobody can have told it
  expect(next.fence).toBeGreaterThan(lost.fence)
  await next.release()
})

test('a cluster keeps each lease in the slot of its one key', async ({ skip }) => {
  shared(skip)
  const { server } = await startCluster(startRedisCluster)
  const { send } = await open(nodeRedis, server.url)
  const byIoredis = new Cluster([{ host: '127.0.0.1', port: Number(new URL(server.url).port) }])
  const byRedis = createCluster({ rootNodes: [{ url: server.url }] })
  await byRedis.connect()
  const [one, other] = [createLeases(byIoredis), createLeases(byRedis)]
  for (const key of ['a', 'b', 'c', 'd']) {
    const lease = await one.lease(key)
    const waiting = other.lease(key)
    await until(async () => String(await send('PUBSUB', 'CHANNELS')) !== '', 'somebody who listens')
    await lease.release()
    await (await waiting).release()
  }
  byRedis.destroy()
  byIoredis.disconnect()
})

test('a cluster without all of its slots says so', async ({ skip }) => {
  shared(skip)
  const { server } = await startCluster(startEmptyCluster)
  const leases = createLeases((await open(nodeRedis, server.url)).client)
  const error = await caught(leases.lease('k', { wait: 'nowait' }))
  expect(error).toMatchObject({ message: /its cluster is down.*\(CLUSTERDOWN\)/ })
})

test('locks in memory compare the fence of a lease from elsewhere, as a database does', async ({ skip }) => {
  const { client, send } = await open(nodeRedis, shared(skip).server.url)
  const [leases, key, locks] = [createLeases(client), randomUUID(), createTestLocks()]
  const stale = await leases.lease(key, { renew: false })
  await lose(send, stale.fence, [`holdfast:lease:${chosenLeaseName(key)}`])
  const held = await leases.lease(key, { renew: false })
  expect(await locks.fenced(stale, async () => 'stored')).toBe('stored')
  expect(await locks.fenced(held, async () => 'stored')).toBe('stored')
  expect(await caught(locks.fenced(stale, async () => 'stored'))).toBeInstanceOf(LockLostError)
  await held.release()
})

describe('a holder in another process', () => {
  test('that was killed is followed by the next when its time is over', async ({ skip }) => {
    const { url } = shared(skip).server
    const key = randomUUID()
    const { child, lines } = await hold({ url, key, ttlMs: 3000 })
    const leases = createLeases((await open(nodeRedis, url)).client)
    child.kill('SIGKILL')
    const next = await leases.lease(key, { wait: { timeoutMs: 60_000 } })
    expect(next.fence).toBeGreaterThan(Number(lines()[0]))
    await next.release()
  })

  test('that was stopped sees that it has lost the lease, which another has by then', async ({ skip }) => {
    const { url } = shared(skip).server
    const key = randomUUID()
    const { child, lines } = await hold({ url, key, ttlMs: 3000 })
    const leases = createLeases((await open(nodeRedis, url)).client)
    child.kill('SIGSTOP')
    const next = await leases.lease(key, { wait: { timeoutMs: 60_000 } })
    expect(next.fence).toBeGreaterThan(Number(lines()[0]))
    const before = lines().length
    child.kill('SIGCONT')
    await until(() => lines().length > before, 'word of the woken process')
    expect(lines()[before]).toBe('lost')
    next.throwIfLost()
    await next.release()
  })
})
