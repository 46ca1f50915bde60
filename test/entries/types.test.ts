import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type Database from 'better-sqlite3'
import type { ClientSession, Db, MongoClient } from 'mongodb'
import type { ConnectionPool, Transaction } from 'mssql'
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise'
import type { Pool as PgPool, PoolClient } from 'pg'
import { expectTypeOf, test } from 'vitest'

import { createLocks as betterSqlite3 } from '../../src/entries/better-sqlite3.ts'
import { createLocks as duckdb } from '../../src/entries/duckdb.ts'
import {
  createLocks as mongodb,
  type MongodbLocks,
  type MongodbTransaction,
} from '../../src/entries/mongodb.ts'
import { createLocks as mssql } from '../../src/entries/mssql.ts'
import { createLocks as mysql2 } from '../../src/entries/mysql2.ts'
import { createLocks as pg, type Locks, type LockedRows, type WaitOf } from '../../src/entries/pg.ts'

/** Never called: what is tested is that they compile. */
const calls = {
  pg: (pool: PgPool) => pg(pool),
  'pg, told': (pool: PgPool) => pg(pool, { dialect: 'postgres', version: '18' }),
  mysql2: (pool: MysqlPool) => mysql2(pool),
  'mysql2, told': (pool: MysqlPool) => mysql2(pool, { dialect: 'mariadb' }),
  'better-sqlite3': (database: Database.Database) => betterSqlite3(database),
  'better-sqlite3, a handle each': (open: () => Database.Database) => betterSqlite3(open),
  duckdb: (instance: DuckDBInstance) => duckdb(instance),
  mssql: (pool: ConnectionPool) => mssql(pool, { requestTimeoutMs: 60_000, version: '2022' }),
  mongodb: (client: MongoClient) => mongodb(client, { database: 'app' }),
}

test("the work is given the driver's own type, and the dialect is known", () => {
  expectTypeOf(calls.pg).returns.toEqualTypeOf<Locks<PoolClient, 'postgres'>>()
  expectTypeOf(calls['pg, told']).returns.toEqualTypeOf<Locks<PoolClient, 'postgres'>>()
  expectTypeOf(calls.mysql2).returns.toEqualTypeOf<Locks<PoolConnection, 'mysql' | 'mariadb'>>()
  expectTypeOf(calls['mysql2, told']).returns.toEqualTypeOf<Locks<PoolConnection, 'mariadb'>>()
  expectTypeOf(calls['better-sqlite3']).returns.toEqualTypeOf<Locks<Database.Database, 'sqlite'>>()
  expectTypeOf(calls['better-sqlite3, a handle each']).returns.toEqualTypeOf<
    Locks<Database.Database, 'sqlite'>
  >()
  expectTypeOf(calls.duckdb).returns.toEqualTypeOf<Locks<DuckDBConnection, 'duckdb'>>()
  expectTypeOf(calls.mssql).returns.toEqualTypeOf<Locks<Transaction, 'mssql'>>()
  expectTypeOf(calls.mongodb).returns.toEqualTypeOf<MongodbLocks<MongodbTransaction<ClientSession, Db>>>()
})

test('the ways to wait are those of the dialect', () => {
  type Everywhere = 'block' | 'nowait' | { readonly timeoutMs: number }
  expectTypeOf<WaitOf<'postgres'>>().toEqualTypeOf<Everywhere | 'skip'>()
  expectTypeOf<WaitOf<'mysql' | 'mariadb'>>().toEqualTypeOf<Everywhere | 'skip'>()
  expectTypeOf<WaitOf<'mssql'>>().toEqualTypeOf<Everywhere | 'skip'>()
  expectTypeOf<WaitOf<'sqlite'>>().toEqualTypeOf<Everywhere>()
  expectTypeOf<WaitOf<'duckdb'>>().toEqualTypeOf<Everywhere>()
  expectTypeOf<WaitOf<'mongodb'>>().toEqualTypeOf<Everywhere>()
})

test('rows and results keep the types that the caller names', () => {
  const call = (locks: Locks<PoolClient, 'postgres'>) =>
    locks.transaction((tx) => locks.rows<{ id: number }>(tx, 'select id from job', { wait: 'skip' }))
  expectTypeOf(call).returns.resolves.toEqualTypeOf<LockedRows<{ id: number }>>()
})

test('a dialect that the driver does not reach does not compile', () => {
  // @ts-expect-error pg speaks to PostgreSQL only
  expectTypeOf(pg).toBeCallableWith({} as PgPool, { dialect: 'mysql' })
  // @ts-expect-error mysql2 does not speak to PostgreSQL
  expectTypeOf(mysql2).toBeCallableWith({} as MysqlPool, { dialect: 'postgres' })
  // @ts-expect-error a pg pool is no mysql2 pool
  expectTypeOf(mysql2).toBeCallableWith({} as PgPool)
})
