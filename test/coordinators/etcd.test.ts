import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'

import { LockLostError, LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import { createGateway, type Gateway } from '../../src/coordinators/etcd/gateway.ts'
import { leaseCommands } from '../../src/coordinators/etcd/lease.ts'
import { sessions } from '../../src/coordinators/etcd/sessions.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { createLeases, type EtcdFetch } from '../../src/entries/etcd.ts'
import { startEtcd, type StartedCluster } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'
import { base64, enableAuth, endpointsOf, post } from './etcd-keys.ts'
import { useHolders } from './holders.ts'

const started: StartedCluster[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ stop }) => stop()))
})

/** A cluster of its own for one test. */
async function start(size: number): Promise<StartedCluster> {
  const cluster = await startEtcd(size)
  started.push(cluster)
  return cluster
}

const shared = useExtraServer(() => startEtcd())
const hold = useHolders(new URL('etcd-holder.ts', import.meta.url))

test('the fence is the revision of the cluster, and a lease costs no key when it is over', async ({
  skip,
}) => {
  const endpoints = endpointsOf(shared(skip))
  const prefix = `${randomUUID()}/`
  const leases = createLeases({ endpoints, prefix })
  const lease = await leases.lease('k')
  const all = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) }
  const { kvs } = await post(endpoints[0] ?? '', '/v3/kv/range', all)
  expect(kvs).toEqual([expect.objectContaining({ create_revision: String(lease.fence) })])
  await lease.release()
  expect(await post(endpoints[0] ?? '', '/v3/kv/range', all)).not.toHaveProperty('kvs')
  const allLeases = async (): Promise<unknown> =>
    (await post(endpoints[0] ?? '', '/v3/lease/leases', {})).leases
  await until(async () => (await allLeases()) === undefined, "no lease of etcd's own")
})

test('the time of a lease is rounded up to whole seconds, and can be changed', async ({ skip }) => {
  const leases = createLeases({ endpoints: endpointsOf(shared(skip)) })
  const key = randomUUID()
  const lease = await leases.lease(key, { ttlMs: 9100, renew: false })
  expect(lease.remainingMs()).toBeLessThan(9100)
  const leftMs = async (): Promise<number> => (await leases.inspect({ keys: [key] }))[0]?.remainingMs ?? 0
  // whole seconds that are over are not told
  expect(await leftMs()).toSatisfy((ms: number) => ms > 9000 - 60_000 && ms <= 10_000)
  await lease.extend(600_000)
  expect(await leftMs()).toBeGreaterThan(10_000)
  expect(lease.remainingMs()).toBeGreaterThan(10_000)
  const { fence } = lease
  expect((await leases.inspect({ keys: [key] }))[0]).toMatchObject({ fence, owner: lease.owner })
  await lease.extend(20_000)
  expect(await leftMs()).toBeLessThanOrEqual(20_000)
  await lease.release()
  expect(await leases.inspect({ keys: [key] })).toEqual([])
})

test('a renewal gives a lease its whole time again', async ({ skip }) => {
  const leases = createLeases({ endpoints: endpointsOf(shared(skip)) })
  const key = randomUUID()
  const lease = await leases.lease(key, { ttlMs: 600_000, renew: false })
  const leftMs = async (): Promise<number> => (await leases.inspect({ keys: [key] }))[0]?.remainingMs ?? 0
  await until(async () => (await leftMs()) < 598_000, 'a lease that runs out')
  const before = await leftMs()
  await lease.extend()
  expect(await leftMs()).toBeGreaterThan(before)
  await lease.release()
})

test('the holder is told when its lease has expired, and another has it then', async ({ skip }) => {
  const leases = createLeases({ endpoints: endpointsOf(shared(skip)) })
  const key = randomUUID()
  const lease = await leases.lease(key, { ttlMs: 2000, renew: false })
  const next = await leases.lease(key)
  expect(lease.signal.reason).toBeInstanceOf(LockLostError)
  expect(lease.remainingMs()).toBe(0)
  expect(next.fence).toBeGreaterThan(lease.fence)
  expect(await caught(lease.extend())).toBeInstanceOf(LockLostError)
  await lease.release()
  next.throwIfLost()
  await next.release()
})

test("a lease that was released before its time is nobody's, and cannot be had", async ({ skip }) => {
  const leases = createLeases({ endpoints: endpointsOf(shared(skip)) })
  const [key, free] = [randomUUID(), randomUUID()]
  await (await leases.lease(free)).release()
  await (await leases.lease(free, { wait: 'nowait' })).release()
  const { fence, release } = await leases.lease(key, { holdAtLeastMs: 600_000 })
  await release()
  expect(await leases.inspect({ keys: [key, free] })).toMatchObject([{ owner: undefined, fence }])
  expect(await caught(leases.lease(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
})

test('a request whose answer is lost is made again at another member, and does no more than once', async ({
  skip,
}) => {
  const endpoints = endpointsOf(shared(skip))
  let lost = 0
  /** The first answer to each kind of request is lost, though the request is carried out. */
  const losing = (): EtcdFetch => {
    const seen = new Set<string>()
    return async (url, init) => {
      const response = await fetch(url, init)
      if (seen.has(url)) return response
      seen.add(url)
      lost += 1
      throw new TypeError('fetch failed')
    }
  }
  const twice = [...endpoints, ...endpoints]
  const [key, other] = [randomUUID(), createLeases({ endpoints })]
  const lease = await createLeases({ endpoints: twice, fetch: losing() }).lease(key, { renew: false })
  expect(lost).toBe(4) // a look, a lease of etcd's own, which was there by then and is renewed, and the key
  expect((await other.inspect({ keys: [key] }))[0]).toMatchObject({ owner: lease.owner, fence: lease.fence })
  const { renew } = leaseCommands('holdfast/leases/')
  const session = await sessions(createGateway({ endpoints: twice, auth: undefined, fetch: losing() })).open()
  const held = { name: chosenLeaseName(key), owner: lease.owner, fence: lease.fence }
  for (const statement of renew(held, 600_000)) expect(await session.run(statement)).toEqual([{ answer: 1 }])
  expect((await other.inspect({ keys: [key] }))[0]?.remainingMs).toBeGreaterThan(60_000)
  await lease.release()
})

test('a watch hears of a lease that is released, and of one that etcd has ended', async ({ skip }) => {
  const endpoints = endpointsOf(shared(skip))
  const { listen } = sessions(gatewayTo(endpoints))
  const heard: string[] = []
  const stop = await listen?.('holdfast/leases/', (name) => void heard.push(name))
  const leases = createLeases({ endpoints })
  const [released, expired] = [randomUUID(), randomUUID()]
  await leases.lease(expired, { ttlMs: 1000, renew: false })
  await (await leases.lease(released)).release()
  const names = [released, expired].map(chosenLeaseName)
  await until(() => names.every((name) => heard.includes(name)), 'word of both')
  await stop?.()
  expect(heard).not.toContain('') // nobody has to be told of an end that it asked for
})

test('a watch that etcd refuses is no listener, and who waits is granted the lease all the same', async ({
  skip,
}) => {
  shared(skip)
  const cluster = await start(1)
  const endpoints = endpointsOf(cluster)
  await enableAuth(endpoints)
  const auth = { user: 'app', password: 'app-secret' }
  const { listen } = sessions(createGateway({ endpoints, auth, fetch }))
  const heard: string[] = []
  const refused = await caught(listen?.('elsewhere/', (name) => void heard.push(name)) ?? Promise.resolve())
  expect(refused).toMatchObject({ message: /the watch was ended.*permission denied/ })
  expect(heard).toEqual([])
  const deaf: EtcdFetch = (url, init) => {
    if (!url.endsWith('/v3/watch')) return fetch(url, init)
    const request = { create_request: { key: base64('elsewhere/') } }
    return fetch(url, { ...init, body: JSON.stringify(request) })
  }
  const lease = await createLeases({ endpoints, auth }).lease('k')
  const waiting = createLeases({ endpoints, auth, fetch: deaf }).lease('k')
  await lease.release()
  await (await waiting).release()
})

test('a watch at a member that loses the others ends, and its listener is told', async ({ skip }) => {
  shared(skip)
  const cluster = await start(3)
  const [first, ...others] = cluster.members
  const { listen } = sessions(gatewayTo([first?.server.url ?? '']))
  const heard: string[] = []
  await listen?.('holdfast/leases/', (name) => void heard.push(name))
  for (const other of others) await other.freeze?.()
  await until(() => heard.length > 0, 'the end of the watch')
  expect(heard).toEqual([''])
})

test('who waits is granted the lease although the watch breaks again and again', async ({ skip }) => {
  shared(skip)
  const cluster = await start(1)
  const endpoints = endpointsOf(cluster)
  let watches = 0
  const breaking: EtcdFetch = async (url, init) => {
    if (!url.endsWith('/v3/watch')) return fetch(url, init)
    watches += 1
    const broken = new AbortController()
    const response = await fetch(url, { ...init, signal: AbortSignal.any([init.signal, broken.signal]) })
    setTimeout(() => broken.abort(), 50)
    return response
  }
  const lease = await createLeases({ endpoints }).lease('k')
  const waiting = createLeases({ endpoints, fetch: breaking }).lease('k')
  await until(() => watches > 2, 'more than one watch')
  await lease.release()
  await (await waiting).release()
})

describe('of three members', () => {
  test('one is killed: leases are kept, renewed, taken and released', async ({ skip }) => {
    shared(skip)
    const cluster = await start(3)
    const endpoints = endpointsOf(cluster)
    for (const first of endpoints) {
      // each of them is the first that is asked
      const leases = createLeases({ endpoints: [first, ...endpoints.filter((one) => one !== first)] })
      await (await leases.lease(randomUUID())).release()
    }
    const leases = createLeases({ endpoints })
    const lease = await leases.lease('k', { ttlMs: 60_000 })
    process.kill(cluster.members[0]?.server.pid ?? 0, 'SIGKILL')
    await lease.extend()
    const other = createLeases({ endpoints })
    expect(await caught(other.lease('k', { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await lease.release()
    const next = await other.lease('k')
    expect(next.fence).toBeGreaterThan(lease.fence)
    await next.release()
  })

  test('two are silent: the third one refuses, and says why', async ({ skip }) => {
    shared(skip)
    const cluster = await start(3)
    const endpoints = endpointsOf(cluster)
    const lease = await createLeases({ endpoints }).lease('k', { ttlMs: 60_000 })
    for (const member of cluster.members.slice(0, 2)) await member.freeze?.()
    const alone = createLeases({ endpoints: endpoints.slice(2) })
    for (const key of ['k', 'free']) {
      const error = await caught(alone.lease(key, { wait: 'nowait' }))
      expect(error).toMatchObject({ name: 'EtcdError', message: /without a majority of its members/ })
    }
    const all = await caught(createLeases({ endpoints }).lease('free', { wait: 'nowait' }))
    expect(all).toMatchObject({ name: 'EtcdError', message: /none of 3 etcd members takes a lease now/ })
    for (const member of cluster.members.slice(0, 2)) await member.thaw?.()
    await until(async () => {
      await lease.extend()
      return true
    }, 'a cluster that answers again')
    expect(await caught(alone.lease('k', { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await lease.release()
  })

  test('a leader that slept through its own end renews nothing', async ({ skip }) => {
    shared(skip)
    const cluster = await start(3)
    const leader = await leaderOf(cluster)
    const others = endpointsOf(cluster).filter((one) => one !== leader.server.url)
    const [name, ttlMs] = [chosenLeaseName('k'), 2000]
    const { renew } = leaseCommands('holdfast/leases/')
    const { owner, fence } = await createLeases({ endpoints: [leader.server.url] }).lease('k', {
      ttlMs,
      renew: false,
    })
    await leader.freeze?.()
    const next = await createLeases({ endpoints: others }).lease('k', { wait: { timeoutMs: 60_000 } })
    expect(next.fence).toBeGreaterThan(fence)
    // by hand: the holder itself knows that its time is over, and would not ask
    const session = await sessions(gatewayTo([leader.server.url])).open()
    const [late] = renew({ name, owner, fence }, ttlMs).map((statement) => session.run(statement))
    const answer = caught(late ?? Promise.resolve()).then(() => late?.catch(() => [{ answer: 'refused' }]))
    await leader.thaw?.()
    expect(await answer).not.toEqual([{ answer: 1 }])
    next.throwIfLost()
    await next.release()
  })
})

function gatewayTo(endpoints: readonly string[]): Gateway {
  return createGateway({ endpoints, auth: undefined, fetch })
}

/** The member that leads. */
async function leaderOf(cluster: StartedCluster): Promise<StartedCluster['members'][number]> {
  for (const member of cluster.members) {
    const { header, leader } = (await post(member.server.url, '/v3/maintenance/status', {})) as {
      readonly header: { readonly member_id: string }
      readonly leader: string
    }
    if (header.member_id === leader) return member
  }
  throw new Error('no member leads')
}

test('a wrong password, a missing one, and a user without rights are told without the password', async ({
  skip,
}) => {
  shared(skip)
  const cluster = await start(1)
  const endpoints = endpointsOf(cluster)
  await enableAuth(endpoints)
  const take = (auth?: { user: string; password: string }): Promise<unknown> =>
    createLeases({ endpoints, ...(auth && { auth }) }).lease('k', { wait: 'nowait' })
  const refusals = [
    await caught(take()),
    await caught(take({ user: 'app', password: 'wrong-secret' })),
    await caught(take({ user: 'guest', password: 'guest-secret' })),
  ]
  for (const error of refusals) {
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field: 'auth' })
    expect(inspect(error, { depth: 10 })).not.toContain('secret')
  }
  const leases = createLeases({ endpoints, auth: { user: 'app', password: 'app-secret' } })
  const lease = await leases.lease('k')
  await lease.extend()
  const waiting = leases.lease('k')
  await lease.release()
  await (await waiting).release()
})

describe('a holder in another process', () => {
  test('that was killed is followed by the next when its time is over', async ({ skip }) => {
    const { url } = shared(skip).server
    const key = randomUUID()
    const { child, lines } = await hold({ url, key, ttlMs: 3000 })
    child.kill('SIGKILL')
    const next = await createLeases({ endpoints: [url] }).lease(key, { wait: { timeoutMs: 60_000 } })
    expect(next.fence).toBeGreaterThan(Number(lines()[0]))
    await next.release()
  })

  test('that was stopped sees that it has lost the lease, which another has by then', async ({ skip }) => {
    const { url } = shared(skip).server
    const key = randomUUID()
    const { child, lines } = await hold({ url, key, ttlMs: 3000 })
    child.kill('SIGSTOP')
    const next = await createLeases({ endpoints: [url] }).lease(key, { wait: { timeoutMs: 60_000 } })
    const before = lines().length
    child.kill('SIGCONT')
    await until(() => lines().length > before, 'word of the woken process')
    expect(lines()[before]).toBe('lost')
    next.throwIfLost()
    await next.release()
  })
})

test.for([
  { endpoints: [] },
  { endpoints: ['etcd:2379'] },
  { endpoints: ['http://user:secret@etcd:2379'] },
  { endpoints: 'http://etcd:2379' },
  { endpoints: ['http://etcd:2379'], auth: { user: 'root' } },
  { endpoints: ['http://etcd:2379'], prefix: '' },
  { endpoints: ['http://etcd:2379'], prefx: 'a' },
])('%j is refused at once', (options) => {
  expect(() => createLeases(options as never)).toThrow(LockUsageError)
  expect(() => createLeases(options as never)).not.toThrow(/secret/)
})
