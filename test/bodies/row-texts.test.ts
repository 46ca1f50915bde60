import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mysql2.ts'
import type { Locks } from '../../src/locks.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describe('a text whose rows would not all be locked', () => {
  describeEngines(specs, { only: ['mysql', 'mariadb'] })
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
] as const

const locked = [
  'select id, lower(owner) from account where id in (1, 2)',
  'select a.id from account a, account b where a.id = b.id and a.balance = (select max(balance) from account)',
  "select id from account where owner <> 'max(id), group by' -- distinct\n",
  'select `max` from `from`',
  'select a.id from account a force index (primary) where coalesce(a.owner, 1) = ? order by a.id limit 1',
  'select (select count(*) from account) as n, id from account',
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
