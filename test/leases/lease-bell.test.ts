import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/pg/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import { identify } from '../../src/locks/identify.ts'
import { deadlineIn } from '../../src/core/deadline.ts'
import type { Rest } from '../../src/locks/lease/attendance.ts'
import { createBell, type Bell } from '../../src/locks/lease/bell.ts'
import { createLeases, type Leases } from '../../src/locks/lease/lease.ts'
import { findDialect } from '../../src/registry.ts'
import { describeEngines, until } from '../engines/use.ts'

const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

type Listen = NonNullable<Sessions['listen']>

/** A listener that counts who listens, and passes on what it is told. */
function ear(): {
  readonly listen: Listen
  readonly say: (message: string) => void
  readonly open: () => number
} {
  const listeners = new Set<(message: string) => void>()
  return {
    listen: async (_topic, wake) => {
      listeners.add(wake)
      return async () => void listeners.delete(wake)
    },
    say: (message) => listeners.forEach((wake) => wake(message)),
    open: () => listeners.size,
  }
}

const told: string[] = []

function bellOf(listen: Listen | undefined): Bell {
  return createBell({ listen, me: 'me', tell: (message) => told.push(message) })
}

function rest(quietMs = 60_000): Rest {
  return { quietMs, deadline: deadlineIn(), signal: undefined }
}

test('all who wait share one listener, which ends soon after the last of them', async () => {
  const { listen, open } = ear()
  const bell = bellOf(listen)
  const [a, b] = [bell.attend('a'), bell.attend('b')]
  expect(await a.listen('topic', 1000)).toBe(true)
  expect(await b.listen('topic', 1000)).toBe(false)
  expect(open()).toBe(1)
  a.leave()
  b.leave()
  expect(open()).toBe(1)
  const again = bell.attend('b')
  await until(() => !bell.farewell('a').startsWith('!'), 'the end of waiting for a')
  expect(open()).toBe(1)
  again.leave()
  await until(() => open() === 0, 'the end of listening')
})

test('who watches many names is woken by the release of any of them, and by the end of listening', async () => {
  const { listen, say, open } = ear()
  const bell = bellOf(listen)
  let woken = 0
  const watch = bell.watch({ concerns: (name) => name.startsWith('slot'), wake: () => (woken += 1) })
  expect(watch.isTold()).toBe(false)
  expect(await watch.listen('topic', 1000)).toBe(true)
  expect(watch.isTold()).toBe(true)
  for (const text of ['slot 1', '! other slot 2']) say(text)
  expect(woken).toBe(2)
  bell.ring('slot 3') // released in this process
  expect(woken).toBe(3)
  for (const text of ['door', '? other 10 slot 1', '+ other slot 1', '- other slot 1']) say(text)
  bell.ring('door')
  expect(woken).toBe(3)
  say('')
  expect(woken).toBe(4)
  expect(watch.isTold()).toBe(false)
  expect(await watch.listen('topic', 1000)).toBe(true)
  const other = bell.attend('door')
  other.leave()
  await until(() => !bell.farewell('door').startsWith('!'), 'the end of waiting for the door')
  expect(open()).toBe(1)
  watch.leave()
  await until(() => open() === 0, 'the end of listening')
  bell.ring('slot 1')
  expect(woken).toBe(4)
})

test('a message wakes those who wait for that name, also when it comes before they sleep', async () => {
  const { listen, say } = ear()
  const bell = bellOf(listen)
  const [a, b] = [bell.attend('a'), bell.attend('b')]
  await a.listen('topic', 1000)
  a.expect()
  const sleeping = a.sleep(rest())
  say('a')
  await sleeping
  a.expect()
  say('a')
  a.foundHeld()
  await a.sleep(rest())
  let isAwake = false
  b.expect()
  say('? me 0 b')
  const other = b.sleep(rest(200)).finally(() => (isAwake = true))
  say('a')
  await Promise.resolve()
  expect(isAwake).toBe(false)
  await other
  a.leave()
  b.leave()
})

test('the end of the listening wakes all, who begin it again', async () => {
  const { listen, say, open } = ear()
  const bell = bellOf(listen)
  const [a, b] = [bell.attend('a'), bell.attend('b')]
  await a.listen('topic', 1000)
  say('? other 1000 a')
  const sleeping = Promise.all([a.sleep(rest()), b.sleep(rest())])
  say('')
  await sleeping
  expect(await b.listen('topic', 1000)).toBe(true)
  expect(open()).toBe(1)
  a.leave()
  b.leave()
})

test('nobody waits for a listener that cannot be had or does not come', async () => {
  const refused = bellOf(() => Promise.reject(new Error('no'))).attend('a')
  expect(await refused.listen('topic', 1000)).toBe(false)
  expect(refused.expect()).toBeUndefined()
  const never = bellOf(() => new Promise(() => {})).attend('a')
  expect(await never.listen('topic', 20)).toBe(false)
  refused.leave()
  never.leave()
})

test('whoever is first and asks no longer lets the others pass', async () => {
  const { listen, say } = ear()
  const bell = bellOf(listen)
  const a = bell.attend('a')
  await a.listen('topic', 1000)
  say('? me 10 a')
  say('? other 5 a')
  a.leave()
  told.splice(0)
  say('a')
  expect(told).toEqual(['- me a'])
})

describeEngines(
  (context) => {
    const leasesWith = (size: number, listen?: (pool: pg.Pool) => Listen): Leases => {
      const pool = new pg.Pool({ connectionString: context.engine.server.url, max: size })
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {})) // the engine ends what is still open at its close
      undo.push(() => pool.end())
      return createLeases({
        sessions: { open: sessions(pool).open, ...(listen && { listen: listen(pool) }) },
        server: identify({ dialects: [findDialect('postgres')], version: undefined }),
      })
    }

    /** Listens on a connection of the pool. */
    const onPool =
      (pool: pg.Pool): Listen =>
      async (topic, wake) => {
        const client = await pool.connect()
        client.on('notification', ({ payload = '' }) => wake(payload))
        await client.query(`LISTEN ${topic}`)
        return async () => client.release(true)
      }

    /** Waits until somebody has told that it waits for the lease. */
    const waits = async (name: string): Promise<() => Promise<void>> => {
      const client = new pg.Client({ connectionString: context.engine.server.url })
      await client.connect()
      const heard: string[] = []
      client.on('notification', ({ payload = '' }) => heard.push(payload))
      await client.query('LISTEN holdfast_leases')
      return async () => {
        await until(() => heard.some((one) => one.startsWith('? ') && one.endsWith(` ${name}`)), 'a waiter')
        await client.end()
      }
    }

    test('whoever waits is woken by the release in another process', async () => {
      const [holders, waiters] = [leasesWith(2), leasesWith(2, onPool)]
      for (const name of ['a', 'b', 'c']) {
        const lease = await holders.take({ key: name, name })
        const isWaiting = await waits(name)
        const waiting = waiters.take({ key: name, name })
        await isWaiting()
        await lease.release()
        await (await waiting).release()
      }
    })

    test('a listener does not keep the only connection of a pool', async () => {
      const [holders, waiters] = [leasesWith(2), leasesWith(1, onPool)]
      const lease = await holders.take({ key: 'd', name: 'd' })
      const waiting = waiters.take({ key: 'd', name: 'd', options: { wait: { timeoutMs: 60_000 } } })
      const other = await waiters.take({ key: 'e', name: 'e', options: { wait: { timeoutMs: 60_000 } } })
      await lease.release()
      await (await waiting).release()
      await other.release()
    })
  },
  { only: ['postgres'] },
)
