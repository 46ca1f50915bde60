import Database from 'better-sqlite3'
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect, type Dialect } from 'kysely'
import { MongoClient } from 'mongodb'
import mysqlCallbacks from 'mysql2'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'

import * as betterSqlite3Adapter from '../../src/adapters/better-sqlite3/sessions.ts'
import * as duckdbAdapter from '../../src/adapters/duckdb/sessions.ts'
import * as kyselyAdapter from '../../src/adapters/kysely/sessions.ts'
import * as mariadbAdapter from '../../src/adapters/mariadb/sessions.ts'
import * as mongodbAdapter from '../../src/adapters/mongodb/sessions.ts'
import * as mysql2Adapter from '../../src/adapters/mysql2/sessions.ts'
import * as pgAdapter from '../../src/adapters/pg/sessions.ts'
import { traits as pgTraits } from '../../src/adapters/pg/traits.ts'
import * as postgresJsAdapter from '../../src/adapters/postgres-js/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'

/** One adapter over one kind of source, and the engines that it reaches. */
export interface Subject {
  readonly title: string
  readonly engines: readonly string[]
  readonly connect: (url: string) => Promise<Connected>
}

export interface Connected {
  readonly sessions: Sessions
  readonly close: () => Promise<void>
}

export const subjects: readonly Subject[] = [
  {
    title: 'pg',
    engines: ['postgres'],
    connect: async (url) => {
      const pool = pgPool(url)
      return { sessions: pgAdapter.sessions(pool), close: () => pool.end() }
    },
  },
  {
    title: 'postgres.js',
    engines: ['postgres'],
    connect: async (url) => {
      const sql = postgres(url, { max: 2 })
      return { sessions: postgresJsAdapter.sessions(sql), close: () => sql.end({ timeout: 5 }) }
    },
  },
  {
    title: 'mysql2',
    engines: ['mysql', 'mariadb'],
    connect: async (url) => {
      const pool = mysql.createPool({ uri: url, connectionLimit: 2 })
      return { sessions: mysql2Adapter.sessions(pool), close: () => pool.end() }
    },
  },
  {
    title: 'mariadb',
    engines: ['mysql', 'mariadb'],
    connect: async (url) => {
      const pool = mariadbPool(url)
      return { sessions: mariadbAdapter.sessions(pool), close: () => pool.end() }
    },
  },
  {
    title: 'better-sqlite3, one handle for all',
    engines: ['sqlite'],
    connect: async (url) => {
      const database = new Database(url)
      return { sessions: betterSqlite3Adapter.sessions(database), close: async () => void database.close() }
    },
  },
  {
    title: 'better-sqlite3, a handle for each',
    engines: ['sqlite'],
    connect: async (url) => ({
      sessions: betterSqlite3Adapter.sessions(() => new Database(url)),
      close: async () => {},
    }),
  },
  {
    title: '@duckdb/node-api',
    engines: ['duckdb'],
    connect: async (url) => ({
      // the instance of the cache is the engine's own, which closes it
      sessions: duckdbAdapter.sessions(await (await loadDuckdb()).DuckDBInstance.fromCache(url)),
      close: async () => {},
    }),
  },
  {
    title: 'mongodb',
    engines: ['mongodb'],
    connect: async (url) => {
      const client = await new MongoClient(url).connect()
      return { sessions: mongodbAdapter.sessions(client), close: () => client.close() }
    },
  },
  {
    title: 'kysely over pg',
    engines: ['postgres'],
    connect: async (url) => overKysely(new PostgresDialect({ pool: pgPool(url) }), pgTraits),
  },
  {
    title: 'kysely over mysql2',
    engines: ['mysql', 'mariadb'],
    connect: async (url) => {
      const pool = mysqlCallbacks.createPool({ uri: url, connectionLimit: 2 })
      return overKysely(new MysqlDialect({ pool }), mysql2Adapter.traits)
    },
  },
  {
    title: 'kysely over better-sqlite3',
    engines: ['sqlite'],
    connect: async (url) =>
      overKysely(new SqliteDialect({ database: new Database(url) }), betterSqlite3Adapter.traits),
  },
]

/** A pool of two whose connections may break without ending the process, as the adapter's page advises. */
export function pgPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

function overKysely(dialect: Dialect, driver: kyselyAdapter.DriverTraits): Connected {
  const db = new Kysely<unknown>({ dialect })
  return { sessions: kyselyAdapter.sessions(db, { driver }), close: () => db.destroy() }
}
