import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createLocks, type Locks } from '../../src/entries/pg.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'

describe('the statements of a batch that comes again', () => {
  describeEngines(specs, { only: ['postgres'] })
})

const key = 'kept'
const add = { sql: 'insert into journal values ($1)', params: [1] } as const
const read = { sql: 'select * from journal', expect: { atLeast: 1 } } as const

interface Shop {
  readonly pool: pg.Pool
  readonly locks: Locks<pg.PoolClient, 'postgres'>
}

function specs(context: EngineContext): void {
  const pooler = useExtraServer(() => startPgBouncer(context.server, 'transaction'))
  const closing: (() => Promise<unknown>)[] = []
  /** With one connection. */
  const shopAt = (url: string, options: { readonly prepare?: boolean } = {}): Shop => {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    closing.push(() => pool.end())
    return { pool, locks: createLocks(pool, options) }
  }
  const here = (): Shop => shopAt(context.engine.server.url)
  const namesOn = async (pool: pg.Pool): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ name: string }>(
      "select name from pg_prepared_statements where name like 'holdfast_batch%' order by name",
    )
    return rows.map(({ name }) => name)
  }
  const times = async (count: number, run: () => Promise<unknown>): Promise<void> => {
    for (let done = 0; done < count; done += 1) await run()
  }
  const stored = async (pool: pg.Pool): Promise<number> =>
    (await pool.query('select n from journal')).rowCount ?? 0

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of ['drop table if exists journal', 'create table journal (n integer)'])
      await session.run({ sql, params: [] })
    await session.close()
  })
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  test('are sent by their names, when the server itself is known to be there', async () => {
    const proxy = await startProxy(context.engine.server.url, postgresProtocol)
    closing.push(() => proxy.close())
    const { pool, locks } = shopAt(proxy.url)
    const batch = (): Promise<unknown> => locks.batch(key, [add, read])
    await times(3, batch)
    expect(await namesOn(pool)).toHaveLength(2)
    const trips = await proxy.during(batch)
    expect(trips).toHaveLength(1)
    expect(trips[0]).not.toContain('insert into journal')
    expect(trips[0]).toMatch(/^BEGIN.*pg_advisory_xact_lock.*COMMIT$/s)
    expect(await stored(pool)).toBe(4)
  })

  test('are not kept where that is not wanted, nor is one that comes but once', async () => {
    const unwanted = shopAt(context.engine.server.url, { prepare: false })
    await times(4, () => unwanted.locks.batch(key, [add]))
    expect(await namesOn(unwanted.pool)).toEqual([])
    const { pool, locks } = here()
    let count = 0
    await times(6, () => locks.batch(key, [{ sql: `insert into journal values (${(count += 1)})` }]))
    expect(await namesOn(pool)).toEqual([])
  })

  test('are run once although the server has forgotten them', async () => {
    const { pool, locks } = here()
    const batch = (): Promise<unknown> => locks.batch(key, [add, read], { attempts: 1 })
    await times(3, batch)
    await pool.query('deallocate all')
    await batch()
    expect(await stored(pool)).toBe(4)
    await batch()
    expect(await namesOn(pool)).toEqual([])
    expect(await stored(pool)).toBe(5)
  })

  test('are run once although their table has another column by then', async () => {
    const { pool, locks } = here()
    const batch = (): Promise<unknown> => locks.batch(key, [add, read], { attempts: 1 })
    await times(3, batch)
    await pool.query("alter table journal add column name text default 'new'")
    expect(await batch()).toMatchObject([[], Array.from({ length: 4 }, () => ({ n: 1, name: 'new' }))])
    await times(2, batch)
    expect(await namesOn(pool)).toContainEqual(expect.stringMatching(/^holdfast_batch_1_/))
    expect(await stored(pool)).toBe(6)
  })

  test('are known although they failed when their names were made', async () => {
    const proxy = await startProxy(context.engine.server.url, postgresProtocol)
    closing.push(() => proxy.close())
    const { locks } = shopAt(proxy.url)
    const divide = (by: number): Promise<unknown> =>
      locks.batch(key, [{ sql: 'select 1 / $1::int as n', params: [by] }])
    await divide(1)
    await times(2, async () => expect(await caught(divide(0))).toMatchObject({ code: '22012' }))
    await divide(1)
    const trips = await proxy.during(() => divide(1))
    expect(trips.join(' ')).not.toContain('select 1')
  })

  test('do not disturb the names of the application, nor do these disturb them', async () => {
    const { pool, locks } = here()
    const own = (): Promise<unknown> => pool.query({ name: 'own', text: add.sql, values: [7] })
    await times(3, async () => {
      await own()
      await locks.batch(key, [add])
    })
    expect(await stored(pool)).toBe(6)
  })

  test('have no names behind a pooler, which may hand each transaction to another server', async ({
    skip,
  }) => {
    const database = new URL(context.engine.server.url).pathname.slice(1)
    const { pool, locks } = shopAt(intoDatabase(pooler(skip).server.url, database))
    await times(4, () => locks.batch(key, [add, read]))
    expect(await namesOn(pool)).toEqual([])
    expect(await stored(pool)).toBe(4)
  })
}
