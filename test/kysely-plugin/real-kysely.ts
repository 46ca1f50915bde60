import Sqlite from 'better-sqlite3'
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect, type Dialect, type KyselyPlugin } from 'kysely'
import mysql from 'mysql2'
import pg from 'pg'

import type { Server } from '../engines/engine.ts'
import type { Database } from './database.ts'

const dialects: Readonly<Record<string, (url: string) => Dialect>> = {
  postgres: postgresDialect,
  mysql: mysqlDialect,
  mariadb: mysqlDialect,
  sqlite: (url) => new SqliteDialect({ database: new Sqlite(url, { timeout: 0 }) }),
}

function postgresDialect(url: string): Dialect {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  // a connection that is still closing may hear that its database is dropped
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  return new PostgresDialect({ pool })
}

function mysqlDialect(url: string): Dialect {
  return new MysqlDialect({ pool: mysql.createPool({ uri: url, connectionLimit: 4 }) })
}

/** Kysely over the real driver, on a running server. */
export function connectKysely({ engine, url }: Server, plugins: KyselyPlugin[] = []): Kysely<Database> {
  const dialect = dialects[engine]?.(url)
  if (dialect === undefined) throw new Error(`Kysely has no dialect for ${engine}`)
  return new Kysely<Database>({ dialect, plugins })
}
