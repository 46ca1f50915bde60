import Database from 'better-sqlite3'
import * as kysely from 'kysely'
import mysql from 'mysql2'
import pg from 'pg'

import type { KyselyDialectName } from '../../src/entries/kysely.ts'

/** The dialects of Kysely's own whose servers run here. */
export type ServerName = Exclude<KyselyDialectName, 'mssql'>

/** What is used of Kysely, as each of its releases has it. `D` is what that release calls a dialect. */
export interface KyselyDialects<D> {
  readonly PostgresDialect: new (config: { readonly pool: pg.Pool }) => D
  readonly MysqlDialect: new (config: { readonly pool: mysql.Pool }) => D
  readonly SqliteDialect: new (config: { readonly database: Database.Database }) => D
}

/** Makes a dialect on a pool of so many connections; four, unless told. */
type OnPool<D> = (url: string, size?: number) => D

/** A release's dialect for each server. */
export function dialectsOf<D>(release: KyselyDialects<D>): Readonly<Record<ServerName, OnPool<D>>> {
  const overMysql2: OnPool<D> = (url, size = 4) =>
    new release.MysqlDialect({ pool: mysql.createPool({ uri: url, connectionLimit: size }) })
  return {
    postgres: (url, size = 4) => {
      const pool = new pg.Pool({ connectionString: url, max: size })
      pool.on('error', () => {})
      pool.on('connect', (client) => client.on('error', () => {}))
      return new release.PostgresDialect({ pool })
    },
    mysql: overMysql2,
    mariadb: overMysql2,
    sqlite: (url) => new release.SqliteDialect({ database: new Database(url, { timeout: 0 }) }),
  }
}

export const dialects: Readonly<Record<ServerName, OnPool<kysely.Dialect>>> =
  dialectsOf<kysely.Dialect>(kysely)
