import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLeases, type RedisClient } from '../../src/entries/redis.ts'
import type { StartedServer } from '../engines/engine.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'
import { ioredis, nodeRedis, type OpenedRedis, type RedisWay } from './redis-clients.ts'

const opened: OpenedRedis[] = []
const started: StartedServer[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close()))
  await Promise.all(started.splice(0).map(({ stop }) => stop()))
})

const shared = useExtraServer(() => startRedis())

async function open(way: RedisWay, url: string): Promise<OpenedRedis> {
  const redis = await way.open(url)
  opened.push(redis)
  return redis
}

async function start(...settings: string[]): Promise<string> {
  const server = await startRedis('redis', settings)
  started.push(server)
  return server.server.url
}

/** What a lease, and a permit, are refused with. */
async function refusalsOf(client: RedisClient): Promise<readonly unknown[]> {
  const leases = createLeases(client)
  return [
    await caught(leases.lease('k', { wait: 'nowait' })),
    await caught(leases.semaphore('k', { permits: 2 }).acquire({ wait: 'nowait' })),
  ]
}

describe.each([ioredis, nodeRedis])('through $title', (way) => {
  test('a server that is loading its data says so', async ({ skip }) => {
    shared(skip)
    // half a millisecond for each key, and it answers meanwhile
    const slow = ['--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024']
    const url = await start('--enable-debug-command', 'yes', ...slow)
    const [admin, { client }] = [await open(way, url), await open(way, url)]
    await admin.send('DEBUG', 'POPULATE', '40000')
    void caught(admin.send('DEBUG', 'RELOAD'))
    const seen: unknown[] = []
    await until(async () => {
      seen.splice(0, 2, ...(await refusalsOf(client)))
      return seen.every((error) => error !== 'no error')
    }, 'a server that loads')
    for (const error of seen)
      expect(error).toMatchObject({ message: /Redis takes no lease now.*still loading.*\(LOADING\)/ })
  })

  test.for([
    { title: 'scripts', rights: ['+@all', '-@scripting', '~*', '&*'] },
    { title: 'the keys of leases', rights: ['+@all', '~other:*', '&*'] },
    { title: 'the clock', rights: ['+@all', '-time', '~*', '&*'] },
    { title: 'changes of a hash', rights: ['+@all', '-hset', '-hmget', '~*', '&*'] },
  ])('a user without a right to $title is told which rights it needs', async ({ rights }, { skip }) => {
    const { url } = shared(skip).server
    const admin = await open(way, url)
    await admin.send('ACL', 'SETUSER', 'poor', 'reset', 'on', '>its-secret', ...rights)
    const { client } = await open(way, url.replace('redis://', 'redis://poor:its-secret@'))
    for (const error of await refusalsOf(client)) {
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({
        field: 'client',
        message: /allow it \+@read .*~holdfast:lease:\*.*\(NOPERM\)/,
      })
      expect(inspect(error, { depth: 10 })).not.toContain('its-secret')
    }
  })

  test('a full server that evicts nothing says so', async ({ skip }) => {
    shared(skip)
    const url = await start('--maxmemory', '2mb', '--maxmemory-policy', 'noeviction')
    const { client, send } = await open(way, url)
    let filled: unknown = 'no error'
    for (let index = 0; filled === 'no error'; index += 1)
      filled = await caught(send('SET', `filler:${index}`, 'x'.repeat(10_000)))
    for (const error of await refusalsOf(client))
      expect(error).toMatchObject({ message: /Redis takes no lease now: its memory is full.*\(OOM\)/ })
  })
})

// `redis` goes on trying to connect, and tells only those who listen to its errors
test('a wrong password is told through redis too, which does not end its connecting', async ({ skip }) => {
  shared(skip)
  const url = await start('--requirepass', 'right-secret')
  const client = createClient({ url: url.replace('redis://', 'redis://:wrong-secret@') })
  client.on('error', () => {})
  void caught(client.connect())
  onTestFinished(() => client.destroy())
  let error: unknown
  await until(async () => {
    error = await caught(createLeases(client).lease('k', { wait: 'nowait' }))
    expect(inspect(error, { depth: 10 })).not.toMatch(/(?:right|wrong)-secret/)
    return error instanceof LockUsageError
  }, 'a refusal that says why')
  expect(error).toMatchObject({ field: 'client', message: /refuses the user or the password/ })
})

test('a wrong password is told by the first request, for which ioredis may have to connect again', async ({
  skip,
}) => {
  shared(skip)
  const url = await start('--requirepass', 'right-secret')
  const real = new Redis(url.replace('redis://', 'redis://:wrong-secret@'))
  onTestFinished(() => real.disconnect())
  let [failed, sent] = [0, 0]
  real.on('error', () => (failed += 1))
  await until(() => failed > 2, 'a client that waits before it connects again')
  const count = (name: string | symbol): void => void (String(name).startsWith('eval') && (sent += 1))
  const client = new Proxy(real, { get: (on, name) => (count(name), Reflect.get(on, name, on) as unknown) })
  const leases = createLeases(client)
  const lease = (): Promise<unknown> => leases.lease('k', { wait: 'nowait' })
  const permit = (): Promise<unknown> => leases.semaphore('k', { permits: 2 }).acquire({ wait: 'nowait' })
  for (const ask of [lease, permit]) {
    sent = 0
    const error = await caught(ask())
    expect(error).toMatchObject({ field: 'client', message: /\(WRONGPASS\)/ })
    expect(sent).toBe(1)
  }
})

test('a user whose password was changed meanwhile is refused without a word of either', async ({ skip }) => {
  const { url } = shared(skip).server
  const admin = await open(ioredis, url)
  await admin.send('ACL', 'SETUSER', 'app', 'reset', 'on', '>old-secret', '+@all', '~*', '&*')
  const { client } = await open(ioredis, url.replace('redis://', 'redis://app:old-secret@'))
  await (await createLeases(client).lease('before')).release()
  await admin.send('ACL', 'SETUSER', 'app', 'resetpass', '>new-secret')
  await admin.send('CLIENT', 'KILL', 'USER', 'app')
  let errors: readonly unknown[] = []
  await until(async () => {
    errors = await refusalsOf(client)
    for (const error of errors) expect(inspect(error, { depth: 10 })).not.toMatch(/(?:old|new)-secret/)
    return errors.every((error) => error instanceof LockUsageError)
  }, 'a client that cannot log in again')
  for (const error of errors) expect(error).toMatchObject({ field: 'client', message: /\(WRONGPASS\)/ })
})

describe('what is no client of Redis', () => {
  test.for<[string, unknown]>([
    ['the address of a Redis', 'redis://:its-secret@127.0.0.1:6379'],
    ['another address', new URL('http://user:its-secret@127.0.0.1:2379')],
    ['a client that is not awaited', Promise.resolve({})],
    ['options', { host: '127.0.0.1', password: 'its-secret' }],
  ])('is refused at once: %s', ([, client]) => {
    expect(() => createLeases(client as never)).toThrow(LockUsageError)
    expect(() => createLeases(client as never)).toThrow(/pass a client of ioredis, or one of redis/)
    expect(() => createLeases(client as never)).not.toThrow(/its-secret/)
  })

  test('a web server at the address of the client is no Redis, and the error asks for it', async () => {
    const web = createServer((_, response) => response.end('hello'))
    await once(web.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void web.close())
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
    expect(() => createClient({ url })).toThrow(/protocol/i)
    const client = new Redis(url, { maxRetriesPerRequest: 1 })
    client.on('error', () => {})
    onTestFinished(() => client.disconnect())
    for (const error of await refusalsOf(client))
      expect(error).toMatchObject({
        message: /Redis takes no lease now: its client finds no connection: is there a Redis/,
      })
  })
})
