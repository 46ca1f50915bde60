import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/pg.ts'
import type { Sessions } from '../../src/core/session.ts'
import { identify } from '../../src/locks/identify.ts'
import { createBell } from '../../src/locks/lease/bell.ts'
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

test('all who wait share one listener, which ends with the last of them', async () => {
  const { listen, open } = ear()
  const bell = createBell(listen)
  const [a, b] = [bell.attend('a'), bell.attend('b')]
  expect(await a.listen('topic', 1000)).toBe(true)
  expect(await b.listen('topic', 1000)).toBe(false)
  expect(open()).toBe(1)
  a.leave()
  expect(open()).toBe(1)
  b.leave()
  await until(() => open() === 0, 'the end of listening')
})

test('a message wakes those who wait for that name, also when it comes before they sleep', async () => {
  const { listen, say } = ear()
  const bell = createBell(listen)
  const [a, b] = [bell.attend('a'), bell.attend('b')]
  await a.listen('topic', 1000)
  const sleeping = a.sleep(60_000, undefined)
  say('a')
  await sleeping
  a.expect()
  say('a')
  await a.sleep(60_000, undefined)
  let isAwake = false
  const other = b.sleep(200, undefined).finally(() => (isAwake = true))
  say('a')
  await Promise.resolve()
  expect(isAwake).toBe(false)
  await other
  a.leave()
  b.leave()
})

test('nobody waits for a listener that cannot be had or does not come', async () => {
  const refused = createBell(() => Promise.reject(new Error('no'))).attend('a')
  expect(await refused.listen('topic', 1000)).toBe(false)
  const never = createBell(() => new Promise(() => {})).attend('a')
  expect(await never.listen('topic', 20)).toBe(false)
  refused.leave()
  never.leave()
})

describeEngines(
  (context) => {
    let looks = 0

    const leasesWith = (size: number, listen?: (pool: pg.Pool) => Listen): Leases => {
      const pool = new pg.Pool({ connectionString: context.engine.server.url, max: size })
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {})) // the engine ends what is still open at its close
      undo.push(() => pool.end())
      const { open } = sessions(pool)
      const counted: Sessions['open'] = () => {
        looks += 1
        return open()
      }
      return createLeases({
        sessions: { open: counted, ...(listen && { listen: listen(pool) }) },
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

    test('whoever waits is woken by the release in another process', async () => {
      const [holders, waiters] = [leasesWith(2), leasesWith(2, onPool)]
      for (const name of ['a', 'b', 'c']) {
        const lease = await holders.take({ key: name, name })
        const waiting = waiters.take({ key: name, name })
        const before = looks
        // from here on a wait without a message sleeps for a quarter of a second or more
        await until(() => looks >= before + 10, 'ten looks')
        await lease.release()
        const released = performance.now()
        const next = await waiting
        expect(performance.now() - released).toBeLessThan(150)
        await next.release()
      }
    })

    test('a listener does not keep the only connection of a pool', async () => {
      const [holders, waiters] = [leasesWith(2), leasesWith(1, onPool)]
      const lease = await holders.take({ key: 'd', name: 'd' })
      const waiting = waiters.take({ key: 'd', name: 'd', options: { wait: { timeoutMs: 8000 } } })
      const other = await waiters.take({ key: 'e', name: 'e', options: { wait: { timeoutMs: 8000 } } })
      await lease.release()
      await (await waiting).release()
      await other.release()
    })
  },
  { only: ['postgres'] },
)
