import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/pg.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases, type Lease } from '../../src/locks/lease/lease.ts'
import { findDialect } from '../../src/registry.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy, type Proxy } from '../wire/proxy.ts'

const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

const postgres = findDialect('postgres')
const { renewAll: _, ...oneByOne } = postgres.lease
const alone: Dialect = { ...postgres, lease: oneByOne }
const count = 40

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  async function holdMany(prefix: string, dialect: Dialect = postgres): Promise<[readonly Lease[], Proxy]> {
    const proxy = await startProxy(context.engine.server.url, postgresProtocol)
    const pool = new pg.Pool({ connectionString: proxy.url, max: 4 })
    pool.on('error', () => {})
    undo.push(async () => {
      await pool.end()
      await proxy.close()
    })
    const server = identify({ dialects: [dialect], version: undefined })
    const leases = createLeases({ sessions: sessions(pool), server })
    const names = Array.from({ length: count }, (_unused, index) => `${prefix} ${index}`)
    const options = { ttlMs: 9000 }
    const held = await Promise.all(names.map((name) => leases.take({ key: name, name, options })))
    undo.push(() => Promise.all(held.map((lease) => lease.release())))
    return [held, proxy]
  }

  async function query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const session = await context.engine.open()
    return session.run({ sql, params: [] }).finally(() => session.close())
  }

  /** How many requests go by until every lease but so many lasts longer than at first. */
  async function requestsPerRound(prefix: string, proxy: Proxy, without = 0): Promise<number> {
    const ends = async (): Promise<readonly Record<string, unknown>[]> =>
      query(`select name, expires_at from _leases where name like '${prefix} %' order by name`)
    const before = await ends()
    const isRenewed = async (): Promise<boolean> => {
      const now = await ends()
      const moved = now.filter(
        ({ expires_at: end }, index) => Number(end) > Number(before[index]?.expires_at),
      )
      return moved.length >= count - without
    }
    return (await proxy.during(() => until(isRenewed, 'a renewal of each', 9000))).length
  }

  test('leases that are due together are renewed by few requests', async () => {
    const [, proxy] = await holdMany('together')
    expect(await requestsPerRound('together', proxy)).toBeLessThan(count / 4)
  })

  test('it is the one statement that does it: without it each lease takes a request', async () => {
    const [, proxy] = await holdMany('alone', alone)
    expect(await requestsPerRound('alone', proxy)).toBeGreaterThanOrEqual(count)
  })

  test('a row that somebody has locked holds up no other lease, and one that was lost is lost alone', async () => {
    const [held, proxy] = await holdMany('mixed')
    const blocker = await context.engine.open()
    undo.push(() => blocker.close())
    await query("update _leases set owner = 'thief', expires_at = expires_at + 60000 where name = 'mixed 3'")
    await blocker.run({ sql: 'begin', params: [] })
    await blocker.run({ sql: "select 1 from _leases where name = 'mixed 5' for update", params: [] })
    await requestsPerRound('mixed', proxy, 2)
    await until(() => held[3]?.signal.aborted === true, 'the loss of one')
    await blocker.run({ sql: 'rollback', params: [] })
    await requestsPerRound('mixed', proxy, 1)
    expect(held.filter(({ signal }) => signal.aborted)).toHaveLength(1)
  })
}
