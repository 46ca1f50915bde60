import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'

import { createGateway } from '../../src/coordinators/etcd/gateway.ts'
import { leaseCommands } from '../../src/coordinators/etcd/lease.ts'
import { sessions } from '../../src/coordinators/etcd/sessions.ts'
import { LockNotAvailableError } from '../../src/core/errors.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { createLeases, type EtcdFetch } from '../../src/entries/etcd.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { until } from '../engines/until.ts'
import { caught, gate } from '../entries/stage.ts'
import { endpointsOf, post } from './etcd-keys.ts'

const shared = useExtraServer(() => startEtcd())

test('a lease that comes back to the time that it had is not ended by a revocation that arrives late', async ({
  skip,
}) => {
  const endpoints = endpointsOf(shared(skip))
  const late: (() => Promise<unknown>)[] = []
  const holding: EtcdFetch = async (url, init) => {
    if (!url.endsWith('/v3/lease/revoke')) return fetch(url, init)
    late.push(() => fetch(url, { ...init, signal: null }))
    throw new Error('the answer is lost')
  }
  const key = randomUUID()
  const lease = await createLeases({ endpoints, fetch: holding }).lease(key, {
    ttlMs: 300_000,
    renew: false,
  })
  await lease.extend(600_000)
  await lease.extend(300_000)
  for (const arrive of late) await arrive()
  const other = createLeases({ endpoints })
  expect(await caught(other.lease(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
  await lease.extend()
  await lease.release()
})

test('a lease that comes back to the time that it had is not renewed by a leader of before', async ({
  skip,
}) => {
  const endpoints = endpointsOf(shared(skip))
  let isOfBefore = true
  /** A leader that has not noticed its end keeps a lease alive, and says of which term it is. */
  const outdated: EtcdFetch = async (url, init) => {
    const response = await fetch(url, init)
    if (!isOfBefore || !url.endsWith('/v3/lease/keepalive')) return response
    const text = (await response.text()).replace(/"raft_term":"\d+"/, '"raft_term":"1"')
    return new Response(text)
  }
  const key = randomUUID()
  const lease = await createLeases({ endpoints }).lease(key, { ttlMs: 300_000, renew: false })
  await lease.extend(600_000)
  const session = await sessions(createGateway({ endpoints, auth: undefined, fetch: outdated })).open()
  const held = { name: chosenLeaseName(key), owner: lease.owner, fence: lease.fence }
  const renewFor = (ttlMs: number): Promise<unknown> =>
    Promise.all(
      leaseCommands('holdfast/leases/')
        .renew(held, ttlMs)
        .map((renew) => session.run(renew)),
    )
  for (const ttlMs of [600_000, 300_000])
    expect(await caught(renewFor(ttlMs))).toMatchObject({ message: /leader .* has changed/ })
  isOfBefore = false
  expect(await renewFor(300_000)).toEqual([[{ answer: 1 }]])
  await lease.release()
})

test('a claim that fails leaves no lease of etcd behind', async ({ skip }) => {
  const endpoints = endpointsOf(shared(skip))
  const granted: string[] = []
  const breaking: EtcdFetch = async (url, init) => {
    if (url.endsWith('/v3/kv/txn')) throw new Error('the connection is broken')
    if (url.endsWith('/v3/lease/grant')) granted.push((JSON.parse(init.body) as { ID: string }).ID)
    return fetch(url, init)
  }
  const leases = createLeases({ endpoints, fetch: breaking })
  const error = await caught(leases.lease(randomUUID(), { ttlMs: 600_000, wait: 'nowait' }))
  expect(error).toMatchObject({ name: 'EtcdError' })
  expect(granted).toHaveLength(1)
  const all = async (): Promise<string> =>
    JSON.stringify(await post(endpoints[0] ?? '', '/v3/lease/leases', {}))
  await until(async () => !(await all()).includes(`"${granted[0]}"`), 'the end of what was granted')
})

test('a claim for which nobody waits any longer takes nothing', async ({ skip }) => {
  const endpoints = endpointsOf(shared(skip))
  const [asked, answered] = [gate(), gate()]
  const slow: EtcdFetch = async (url, init) => {
    if (url.endsWith('/v3/lease/grant')) {
      asked.open()
      await answered.opened
    }
    return fetch(url, { ...init, signal: null })
  }
  const key = randomUUID()
  const session = await sessions(createGateway({ endpoints, auth: undefined, fetch: slow })).open()
  const claim = { name: chosenLeaseName(key), owner: randomUUID(), ttlMs: 600_000 }
  const [claiming] = leaseCommands('holdfast/leases/')
    .acquire(claim)
    .map((statement) => session.run(statement))
  const refused = caught(claiming ?? Promise.resolve())
  await asked.opened
  await session.destroy(new Error('nobody waits'))
  answered.open()
  expect(await refused).toMatchObject({ name: 'EtcdError' })
  expect(await createLeases({ endpoints }).inspect({ keys: [key] })).toEqual([])
})
