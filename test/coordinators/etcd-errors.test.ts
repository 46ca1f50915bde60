import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import type { EtcdFetch } from '../../src/coordinators/etcd/gateway.ts'
import { createLeases } from '../../src/entries/etcd.ts'
import { startEtcd, type StartedCluster } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { freePort } from '../engines/free-port.ts'
import { startRedis } from '../engines/redis-server.ts'
import { caught, gate } from '../entries/stage.ts'
import { enableAuth, endpointsOf } from './etcd-keys.ts'

const started: StartedCluster[] = []
afterEach(async () => void (await Promise.all(started.splice(0).map(({ stop }) => stop()))))

async function start(size: number): Promise<StartedCluster> {
  const cluster = await startEtcd(size)
  started.push(cluster)
  return cluster
}

const shared = useExtraServer(() => startEtcd())
const redis = useExtraServer(() => startRedis())

/** What a lease, and a permit, are refused with. */
async function refusalsAt(...endpoints: readonly string[]): Promise<readonly unknown[]> {
  const leases = createLeases({ endpoints })
  return [
    await caught(leases.lease('k', { wait: 'nowait' })),
    await caught(leases.semaphore('k', { permits: 2 }).acquire({ wait: 'nowait' })),
  ]
}

test('a cluster that has lost its majority says so, and what became of each member', async ({ skip }) => {
  shared(skip)
  const cluster = await start(3)
  const endpoints = endpointsOf(cluster)
  for (const member of cluster.members.slice(0, 2)) process.kill(member.server.pid ?? 0, 'SIGKILL')
  for (const error of await refusalsAt(...endpoints)) {
    expect(error).toMatchObject({ message: /none of 3 etcd members takes a lease now.*without a majority/ })
    for (const endpoint of endpoints) expect((error as Error).message).toContain(endpoint)
  }
})

test('every member is asked, although another call finds out meanwhile that they do not answer', async () => {
  const ports = [await freePort(), await freePort(), await freePort()]
  const endpoints = ports.map((port) => `http://127.0.0.1:${port}`)
  const [atFirst, atLast, later] = [gate(), gate(), gate()]
  const seen = new Set<string>()
  const fetch: EtcdFetch = async (url, init) => {
    const { origin } = new URL(url)
    const isNew = !seen.has(origin)
    seen.add(origin)
    if (isNew && origin === endpoints[0]) await atFirst.opened
    if (isNew && origin === endpoints[2]) {
      atLast.open()
      await later.opened
    }
    return globalThis.fetch(url, init)
  }
  const leases = createLeases({ endpoints, fetch })
  const one = caught(leases.lease('one', { wait: 'nowait' }))
  const other = caught(leases.lease('other', { wait: 'nowait' }))
  await atLast.opened
  atFirst.open()
  for (const endpoint of endpoints) expect(((await one) as Error).message).toContain(endpoint)
  later.open()
  for (const endpoint of endpoints) expect(((await other) as Error).message).toContain(endpoint)
})

test('an error of etcd names the member that it is from', async ({ skip }) => {
  shared(skip)
  const endpoints = endpointsOf(await start(1))
  await enableAuth(endpoints)
  const auth = { user: 'guest', password: 'guest-secret' }
  const error = await caught(createLeases({ endpoints, auth }).lease('k', { wait: 'nowait' }))
  expect(error).toBeInstanceOf(LockUsageError)
  expect((error as Error).cause).toMatchObject({
    name: 'EtcdError',
    message: `etcd at ${endpoints[0]}: etcdserver: permission denied`,
  })
  expect(inspect(error, { depth: 10 })).not.toContain('secret')
})

test('an address at which nobody is says so', async () => {
  const address = `http://127.0.0.1:${await freePort()}`
  for (const error of await refusalsAt(address))
    expect(error).toMatchObject({
      name: 'EtcdError',
      message: expect.stringContaining(`etcd at ${address}: cannot be reached (Error: connect ECONNREFUSED`),
    })
})

describe('what is no etcd', () => {
  test.for<[string, number, RequestListener]>([
    ['a page', 200, (_, response) => response.end('<html>\nWelcome\n</html>')],
    ['an answer in JSON', 200, (_, response) => response.end('{}')],
    ['nothing in JSON', 200, (_, response) => response.end('null')],
    ['a page that is missing', 404, (_, response) => response.writeHead(404).end('no such page')],
    ['an error of its own', 400, (_, response) => response.writeHead(400).end('{"error":{"type":"odd"}}')],
  ])('answers with %s, and is told with its address', async ([, status, answer]) => {
    const web = createServer(answer)
    await once(web.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void web.close())
    const address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
    for (const error of await refusalsAt(address))
      expect(error).toMatchObject({
        name: 'EtcdError',
        message: expect.stringContaining(`etcd at ${address}: answers with HTTP ${status} (`),
      })
  })

  test('is a Redis, which closes the connection', async ({ skip }) => {
    const address = redis(skip).server.url.replace('redis://', 'http://')
    for (const error of await refusalsAt(address))
      expect(error).toMatchObject({
        name: 'EtcdError',
        message: expect.stringContaining(`etcd at ${address}`),
      })
  })

  test.for([
    ['redis://:its-secret@127.0.0.1:6379', /has the address of a Redis.*holdfast\/redis/],
    ['rediss://127.0.0.1:6379', /has the address of a Redis.*holdfast\/redis/],
    ['http://app:its-secret@127.0.0.1:2379', /without a password.*auth/],
    ['127.0.0.1:2379', /each with http:\/\//],
    ['etcd:2379', /each with http:\/\//],
  ] as const)('is refused at once: %s', ([endpoint, message]) => {
    expect(() => createLeases({ endpoints: [endpoint] })).toThrow(LockUsageError)
    expect(() => createLeases({ endpoints: [endpoint] })).toThrow(message)
    expect(() => createLeases({ endpoints: [endpoint] })).not.toThrow(/its-secret/)
  })
})
