import { Kysely, sql, type Transaction } from 'kysely'
import mysql from 'mysql2/promise'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as kyselyLocks, type KyselyLocks } from '../../src/entries/kysely.ts'
import { createLocks } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import type { Locks } from '../../src/locks.ts'
import { pgPool } from '../adapters/subject.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describe('a text whose rows would not all be locked', () => {
  describeEngines(specs, { only: ['mysql', 'mariadb'] })
  describeEngines(postgresSpecs, { only: ['postgres'] })
  describeEngines(kyselySpecs, { only: ['mysql', 'mariadb'] })
})

/** Each was run by the servers, and gave rows that others could still lock. */
const refused = [
  'select max(id) from account',
  'select count( * ) from account',
  'select sum(balance) as s from account where id > 0',
  'select id, row_number() over (order by id) from account',
  'select owner, 1 from account group by owner',
  'select distinct owner from account',
  'select a.id from account a, (select id from account) x where x.id = a.id',
  'select a.id from account a join lateral (select id from account b where b.id = a.id) x on true',
  'select a.id from account a join (select id from account) x using (id)',
  'select /* max */ MAX\n(id) from account',
  "select id from account where owner = 'it\\'s' or owner = ', (select 1) '",
  'select /*!80000 max( */ id /*!80000 ) */ from account',
  'select coalesce(max(id), 0) + 1 as next from account',
  'select (max(id)) from account',
  'select if(count(*) > 1, 1, 0) from account',
  'select * from /* x */ (select id from account) t',
  'select a.id from account a straight_join (select id from account) x where a.id = 1',
  'select high_priority distinct owner from account',
  'select id from account where id = 1 union select id from account where id = 2',
  'select (select balance from account where id = 2) as b',
  'select 1 from dual where exists (select 1 from account)',
  'select 1 # from account',
  'select 1 /* a /* b */ from account',
] as const

const locked = [
  'select id, lower(owner) from account where id in (1, 2)',
  'select a.id from account a, account b where a.id = b.id and a.balance = (select max(balance) from account)',
  "select id from account where owner <> 'max(id), group by' -- distinct\n",
  'select `max` from `from`',
  'select a.id from account a force index (primary) where coalesce(a.owner, 1) = ? order by a.id limit 1',
  'select (select count(*) from account) as n, id from account',
  'select coalesce((select max(id) from account), 0), id from account',
  'select id from account where id in (select id from account union select 1)',
  "select id from account where owner = 'a--b'",
  'select extract(year from now()), id from account a left join `from` f on (f.max = a.id)',
] as const

/** The server takes a lock at their end, and locks nothing. */
const refusedOnPostgres = [
  'select * from generate_series(1, 3)',
  'select * from public.owned(1) as given',
  'select * from rows from (generate_series(1, 3))',
  'select 1 as one',
  'select (select balance from account where id = 1) as b',
  'select a from account a where id = 1 --; from account',
] as const

const lockedOnPostgres = [
  'select a.* from unnest(array[2, 1]) with ordinality as k (id, place) join account a on a.id = k.id order by k.place',
  'select id, owner is distinct from balance::text from only public.account',
  "select id, '{}'::json #> '{a}' from account",
] as const

function specs(context: EngineContext): void {
  let pool: mysql.Pool
  let locks: Locks<mysql.PoolConnection, 'mysql' | 'mariadb'>
  beforeAll(async () => {
    pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 2 })
    locks = createLocks(pool)
    await pool.query('create table account (id int primary key, owner varchar(20), balance int)')
    await pool.query("insert into account values (1, 'a', 10), (2, 'b', 20)")
    await pool.query('create table `from` (`max` int primary key)')
  })
  afterAll(() => pool.end())

  test.each(refused)('is refused: %s', async (text) => {
    const said = await caught(locks.transaction((tx) => locks.rows(tx, text)))
    expect(said).toBeInstanceOf(LockUsageError)
    expect(said).toMatchObject({ field: 'query' })
  })

  test.each(locked)('is not this one: %s', async (text) => {
    const params = text.includes('?') ? [7] : []
    await locks.transaction((tx) => locks.rows(tx, { sql: text, params }))
  })
}

function postgresSpecs(context: EngineContext): void {
  let pool: pg.Pool
  let locks: Locks<pg.PoolClient, 'postgres'>
  beforeAll(async () => {
    pool = pgPool(context.engine.server.url)
    locks = pgLocks(pool)
    await pool.query('create table account (id int primary key, owner varchar(20), balance int)')
    await pool.query(
      "create function owned(number int) returns setof account language sql as 'select * from account where id = number'",
    )
  })
  afterAll(() => pool.end())

  test.each(refusedOnPostgres)('is refused: %s', async (text) => {
    const said = await caught(locks.transaction((tx) => locks.rows(tx, text)))
    expect(said).toBeInstanceOf(LockUsageError)
    expect(said).toMatchObject({ field: 'query' })
  })

  test.each(lockedOnPostgres)('is not this one: %s', async (text) => {
    await locks.transaction((tx) => locks.rows(tx, text))
  })
}

interface Bank {
  account: { id: number; owner: string }
}

function kyselySpecs(context: EngineContext): void {
  let db: Kysely<Bank>
  let locks: KyselyLocks<Transaction<Bank>, ServerName>
  const name = context.name as ServerName
  beforeAll(async () => {
    db = new Kysely<Bank>({ dialect: dialects[name](context.engine.server.url) })
    locks = kyselyLocks(db, { dialect: name })
    await db.schema
      .createTable('account')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('owner', 'varchar(20)')
      .execute()
  })
  afterAll(() => db.destroy())

  test.each([
    sql`coalesce(max(id), 0)`,
    sql`coalesce(max(${sql.ref('id')}), ${0})`,
    sql`row_number() over (order by id)`,
    sql`max('it\\'s')`,
  ])('is refused inside of a query of Kysely', async (text) => {
    const said = await caught(
      locks.transaction((tx) => tx.selectFrom('account').select(text.as('n')).forUpdate().execute()),
    )
    expect(said).toBeInstanceOf(LockUsageError)
    expect(said).toMatchObject({ field: 'select' })
  })

  test.each([sql`(select max(id) from account)`, sql`lower(owner)`, sql`${'max('}`])(
    'is not one that calls no aggregate by itself',
    async (text) => {
      await locks.transaction((tx) => tx.selectFrom('account').select(text.as('n')).forUpdate().execute())
    },
  )
}
