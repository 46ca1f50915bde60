import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { LockLostError, LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/better-sqlite3.ts'
import { createLocks as createDuckdb } from '../../src/entries/duckdb.ts'
import { createLocks as createKysely } from '../../src/entries/kysely.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

/** In an order that is not that of the ids, so that the server has to be asked for it. */
const jobs = queue({
  table: 'big_job',
  id: 'id',
  orderBy: 'title',
  where: { state: 'ready' },
  claim: { token: 'token', until: 'until', attempts: 'attempts' },
  done: { set: { state: 'done' } },
})

const columns = 'title TEXT, state TEXT, token TEXT, until BIGINT, attempts INTEGER'

describeEngines(onSqlite, { only: ['sqlite'] })
describeEngines(onDuckdb, { only: ['duckdb'] })

function onSqlite(context: EngineContext): void {
  let outside: Database.Database
  beforeEach(() => {
    outside = new Database(context.engine.server.url).defaultSafeIntegers()
    outside.exec(`drop table if exists big_job; create table big_job (id integer primary key, ${columns})`)
    const add = outside.prepare("insert into big_job (id, title, state) values (?, ?, 'ready')")
    // the first two are one number to JavaScript
    const ids = [9007199254740992n, 9007199254740993n, 1234567890123456789n, -9007199254740993n, 7n]
    for (const [place, id] of ids.entries()) add.run(id, `title ${9 - place}`)
    return () => outside.close()
  })
  const done = (): unknown[] =>
    outside.prepare("select id from big_job where state = 'done' order by id").pluck().all()
  const open = (): Database.Database => new Database(context.engine.server.url)

  describe.each([
    ['better-sqlite3', async () => createLocks(open)],
    [
      'better-sqlite3 that gives every integer as bigint',
      async () => createLocks(() => open().defaultSafeIntegers()),
    ],
    [
      'kysely',
      async () =>
        createKysely(new Kysely<unknown>({ dialect: new SqliteDialect({ database: open() }) }), {
          dialect: 'sqlite',
        }),
    ],
  ])('%s', (_, connect) => {
    test('a job whose id is beyond 2^53 is the one that ends, in the order of the queue', async () => {
      const locks = await connect()
      const claimed = await locks.claim(jobs, { limit: 5 })
      expect(claimed.map(({ id }) => BigInt(id as number | bigint))).toEqual([
        7n,
        -9007199254740993n,
        1234567890123456789n,
        9007199254740993n,
        9007199254740992n,
      ])
      expect(Object.keys(claimed[0]?.row ?? {})).not.toContain('holdfast_id')
      await claimed[3]?.extend()
      await claimed[3]?.complete()
      expect(done()).toEqual([9007199254740993n])
      await claimed[2]?.release()
      await expect(claimed[2]?.complete()).rejects.toBeInstanceOf(LockLostError)
      await locks.complete(
        jobs,
        [claimed[0], claimed[1], claimed[4]].filter((job) => job !== undefined),
      )
      expect(done()).toEqual([-9007199254740993n, 7n, 9007199254740992n, 9007199254740993n])
    })

    test('of several, the one that is no longer held is told by its own id', async () => {
      const locks = await connect()
      const claimed = await locks.claim(jobs, { limit: 5 })
      await claimed[4]?.complete()
      const error = await caught(locks.complete(jobs, claimed))
      expect(error).toMatchObject({ lost: [{ id: 9007199254740992n }] })
    })

    test('an id that was rounded on its way is refused', async () => {
      const locks = await connect()
      const token = (await locks.claim(jobs, { limit: 5 }))[0]?.token ?? ''
      const rounded = { id: Number(9007199254740993n), token }
      expect(await caught(locks.complete(jobs, rounded))).toMatchObject({ field: 'job.id' })
      expect(await caught(locks.complete(jobs, [rounded]))).toMatchObject({ field: 'job.id' })
      expect(await caught(locks.release(jobs, rounded))).toBeInstanceOf(LockUsageError)
      expect(done()).toEqual([])
    })
  })
}

function onDuckdb(context: EngineContext): void {
  let instance: DuckDBInstance
  let outside: DuckDBConnection
  beforeAll(async () => {
    instance = await (await loadDuckdb()).DuckDBInstance.fromCache(context.engine.server.url)
    outside = await instance.connect()
  })
  afterAll(() => outside.disconnectSync())

  test.each([
    ['TIMESTAMPTZ', '2024-01-01 00:00:00.123456+00', '2024-01-01 00:00:00.123457+00'],
    ['TIMESTAMP', '2024-01-01 00:00:00.123456', '2024-01-01 00:00:00.123457'],
    ['TIMESTAMP_NS', '2024-01-01 00:00:00.123456788', '2024-01-01 00:00:00.123456789'],
    ['DECIMAL(38,10)', '12345678901234567890.0123456788', '12345678901234567890.0123456789'],
    ['DECIMAL(38,10)', '12345678.0000000001', '12345678.0000000002'],
    ['DECIMAL(38,0)', '9007199254740992', '9007199254740993'],
    ['HUGEINT', '170141183460469231731687303715884105726', '170141183460469231731687303715884105727'],
    ['BIGINT', '9007199254740992', '9007199254740993'],
    ['TIME', '01:02:03.000001', '01:02:03.000002'],
    ['INTERVAL', '3 days', '4 days'],
    ['DOUBLE', '0.1', '0.30000000000000004'],
    ['DATE', '2024-01-01', '2024-01-02'],
    ['UUID', '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'],
  ])('jobs with ids of the type %s, as %s, end one by one and together', async (type, one, other) => {
    await outside.run(`create or replace table big_job (id ${type}, ${columns})`)
    await outside.run(
      `insert into big_job (id, title, state) values ('${one}', 'b', 'ready'), ('${other}', 'a', 'ready')`,
    )
    const states = async (): Promise<unknown> =>
      (await outside.runAndReadAll('select state from big_job order by title')).getColumnsJS()[0]
    const locks = createDuckdb(instance)
    const [first] = await locks.claim(jobs)
    await first?.extend()
    await first?.complete()
    expect(await states()).toEqual(['done', 'ready'])
    await outside.run("update big_job set state = 'ready'")
    const both = await locks.claim(jobs, { limit: 2 })
    expect(both.map(({ row }) => row.title)).toEqual(['a', 'b'])
    expect(Object.keys(both[0]?.row ?? {})).not.toContain('holdfast_id')
    await locks.complete(jobs, both)
    expect(await states()).toEqual(['done', 'done'])
    await expect(both[0]?.complete()).rejects.toBeInstanceOf(LockLostError)
  })
}
