import Database from 'better-sqlite3'
import { MysqlDialect, PostgresDialect, SqliteDialect, type Dialect } from 'kysely'
import mysql from 'mysql2'
import pg from 'pg'

import type { KyselyDialectName } from '../../src/entries/kysely.ts'

/** The dialects of Kysely's own whose servers run here. */
export type ServerName = Exclude<KyselyDialectName, 'mssql'>

export const dialects: Readonly<Record<ServerName, (url: string) => Dialect>> = {
  postgres: (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 4 })
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    return new PostgresDialect({ pool })
  },
  mysql: (url) => new MysqlDialect({ pool: mysql.createPool({ uri: url, connectionLimit: 4 }) }),
  mariadb: (url) => new MysqlDialect({ pool: mysql.createPool({ uri: url, connectionLimit: 4 }) }),
  sqlite: (url) => new SqliteDialect({ database: new Database(url, { timeout: 0 }) }),
}
