import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { sessions } from '../../src/adapters/pg/sessions.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases, type Lease } from '../../src/locks/lease/lease.ts'
import { findDialect } from '../../src/registry.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy, type Proxy } from '../wire/proxy.ts'

const undo: (() => unknown)[] = []

// so that however slow the machine is, the leases are due at about the same time: when the test says so
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(async () => {
  vi.useRealTimers()
  for (const step of undo.splice(0).toReversed()) await step()
})

const postgres = findDialect('postgres')
const { renewAll: _, ...oneByOne } = postgres.lease
const alone: Dialect = { ...postgres, lease: oneByOne }
const count = 40
const ttlMs = 60_000

/** By half of its time it has been renewed, or it has less than that left. */
const isConfirmed = (lease: Lease): boolean => lease.remainingMs() > ttlMs / 2

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  async function holdMany(prefix: string, dialect: Dialect = postgres): Promise<[readonly Lease[], Proxy]> {
    const proxy = await startProxy(context.engine.server.url, postgresProtocol)
    const pool = new pg.Pool({ connectionString: proxy.url, max: 4, idleTimeoutMillis: 0 })
    pool.on('error', () => {})
    undo.push(async () => {
      await pool.end()
      await proxy.close()
    })
    const server = identify({ dialects: [dialect], version: undefined })
    const leases = createLeases({ sessions: sessions(pool), server })
    const held: Lease[] = []
    undo.push(() => Promise.all(held.map((lease) => lease.release())))
    for (let index = 0; index < count; index += 1) {
      const name = `${prefix} ${index}`
      held.push(await leases.take({ key: name, name, options: { ttlMs } }))
      vi.advanceTimersByTime(1) // so that they are due one after the other
    }
    return [held, proxy]
  }

  async function query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const session = await context.engine.open()
    return session.run({ sql, params: [] }).finally(() => session.close())
  }

  /** How many requests go by from when all leases are due until each but so many lasts longer, here and on the server. */
  async function requestsPerRound(
    prefix: string,
    [held, proxy]: readonly [readonly Lease[], Proxy],
    without = 0,
  ): Promise<number> {
    const ends = async (): Promise<readonly Record<string, unknown>[]> =>
      query(`select name, expires_at from _leases where name like '${prefix} %' order by name`)
    const before = await ends()
    const isRenewed = async (): Promise<boolean> => {
      const now = await ends()
      const moved = now.filter(
        ({ expires_at: end }, index) => Number(end) > Number(before[index]?.expires_at),
      )
      return Math.min(moved.length, held.filter(isConfirmed).length) >= count - without
    }
    const trips = await proxy.during(async () => {
      await vi.advanceTimersByTimeAsync(ttlMs / 2) // more than the third after which they are due
      await until(isRenewed, 'a renewal of each')
    })
    return trips.length
  }

  test('leases that are due together are renewed by one request', async () => {
    const many = await holdMany('together')
    expect(await requestsPerRound('together', many)).toBe(1)
  })

  test('it is the one statement that does it: without it each lease takes a request', async () => {
    const many = await holdMany('alone', alone)
    expect(await requestsPerRound('alone', many)).toBeGreaterThanOrEqual(count)
  })

  test('a row that somebody has locked holds up no other lease, and one that was lost is lost alone', async () => {
    const many = await holdMany('mixed')
    const [held] = many
    const blocker = await context.engine.open()
    undo.push(() => blocker.close())
    await query("update _leases set owner = 'thief', expires_at = expires_at + 60000 where name = 'mixed 3'")
    await blocker.run({ sql: 'begin', params: [] })
    await blocker.run({ sql: "select 1 from _leases where name = 'mixed 5' for update", params: [] })
    await requestsPerRound('mixed', many, 2)
    await until(() => held[3]?.signal.aborted === true, 'the loss of one')
    await blocker.run({ sql: 'rollback', params: [] })
    await until(() => held.filter(isConfirmed).length === count - 1, 'the renewal that was held up')
    await requestsPerRound('mixed', many, 1)
    expect(held.filter(({ signal }) => signal.aborted)).toHaveLength(1)
  })
}
