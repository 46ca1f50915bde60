import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type Database from 'better-sqlite3'
import type { Kysely } from 'kysely'
import type { ClientSession, Db, MongoClient } from 'mongodb'
import type { ConnectionPool, Transaction } from 'mssql'
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise'
import type { PoolClient, Pool as PgPool } from 'pg'
import { expectTypeOf, test } from 'vitest'

import { sessions as betterSqlite3 } from '../../src/adapters/better-sqlite3/sessions.ts'
import { sessions as duckdb } from '../../src/adapters/duckdb/sessions.ts'
import { sessions as kysely } from '../../src/adapters/kysely/sessions.ts'
import { sessions as mongodb, type MongodbTransaction } from '../../src/adapters/mongodb/sessions.ts'
import { sessions as mssql } from '../../src/adapters/mssql/sessions.ts'
import { sessions as mysql2 } from '../../src/adapters/mysql2/sessions.ts'
import { sessions as pg } from '../../src/adapters/pg/sessions.ts'
import { traits } from '../../src/adapters/pg/traits.ts'
import type { Sessions } from '../../src/core/session.ts'

interface Tables {
  readonly person: { readonly id: number; readonly name: string }
}

/** Never called: what is tested is that they compile. */
const calls = {
  pg: (pool: PgPool) => pg(pool),
  mysql2: (pool: MysqlPool) => mysql2(pool),
  'better-sqlite3': (database: Database.Database) => betterSqlite3(database),
  'better-sqlite3, a handle each': (open: () => Database.Database) => betterSqlite3(open),
  duckdb: (instance: DuckDBInstance) => duckdb(instance),
  mssql: (pool: ConnectionPool) => mssql(pool, { requestTimeoutMs: 60_000 }),
  mongodb: (client: MongoClient) => mongodb(client, { database: 'app' }),
  kysely: (db: Kysely<Tables>) => kysely(db, { driver: traits }),
}

test("the real driver's own types are taken, and the work is given what that driver calls a connection", () => {
  expectTypeOf(calls.pg).returns.toEqualTypeOf<Sessions<PoolClient>>()
  expectTypeOf(calls.mysql2).returns.toEqualTypeOf<Sessions<PoolConnection>>()
  expectTypeOf(calls['better-sqlite3']).returns.toEqualTypeOf<Sessions<Database.Database>>()
  expectTypeOf(calls['better-sqlite3, a handle each']).returns.toEqualTypeOf<Sessions<Database.Database>>()
  expectTypeOf(calls.duckdb).returns.toEqualTypeOf<Sessions<DuckDBConnection>>()
  expectTypeOf(calls.mssql).returns.toEqualTypeOf<Sessions<Transaction>>()
  expectTypeOf(calls.mongodb).returns.toEqualTypeOf<Sessions<MongodbTransaction<ClientSession, Db>>>()
  expectTypeOf(calls.kysely).returns.toExtend<Sessions>()
})

test('a pool of another driver does not compile', () => {
  // @ts-expect-error a pg pool is no mysql2 pool
  expectTypeOf(mysql2).toBeCallableWith({} as PgPool)
  // @ts-expect-error a mysql2 pool is no pg pool
  expectTypeOf(pg).toBeCallableWith({} as MysqlPool)
  // @ts-expect-error an SQLite handle is no DuckDB instance
  expectTypeOf(duckdb).toBeCallableWith({} as Database.Database)
  // @ts-expect-error Kysely alone does not tell enough
  expectTypeOf(kysely).toBeCallableWith({} as Kysely<Tables>)
})
