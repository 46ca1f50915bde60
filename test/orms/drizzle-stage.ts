import Database from 'better-sqlite3'
import { drizzle as overSqlite } from 'drizzle-orm/better-sqlite3'
import { int, mysqlTable } from 'drizzle-orm/mysql-core'
import { drizzle as overMysql } from 'drizzle-orm/mysql2'
import { drizzle as overPg } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { integer as sqliteInteger, sqliteTable } from 'drizzle-orm/sqlite-core'
import mysql from 'mysql2/promise'
import pg from 'pg'

import type { DrizzleDatabase } from '../../src/entries/drizzle.ts'

/** The column is not called what the property is: what Drizzle gives is its own making. */
export const account = pgTable('account', {
  id: integer().primaryKey(),
  balance: integer('balance_now').notNull(),
})
const mysqlAccount = mysqlTable('account', { id: int().primaryKey(), balance: int('balance_now').notNull() })
const sqliteAccount = sqliteTable('account', {
  id: sqliteInteger().primaryKey(),
  balance: sqliteInteger('balance_now').notNull(),
})

export type DrizzlePg = ReturnType<typeof openPg>

export function openPg(url: string, max = 4) {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return overPg(pool, { schema: { account } })
}

export function openMysql(url: string, connectionLimit = 4) {
  return overMysql(mysql.createPool({ uri: url, connectionLimit }), {
    schema: { account: mysqlAccount },
    mode: 'default',
  })
}

export function openSqlite(url: string) {
  return overSqlite(new Database(url, { timeout: 0 }), { schema: { account: sqliteAccount } })
}

/** A database of Drizzle's with the table that belongs to it, as PostgreSQL's: its builders are the same everywhere. */
export interface DrizzleStage {
  readonly db: DrizzlePg
  readonly account: typeof account
  readonly close: () => Promise<void>
}

export const stages: Readonly<Record<string, (url: string) => DrizzleStage>> = {
  postgres: (url) => {
    const db = openPg(url)
    return { db, account, close: () => db.$client.end() }
  },
  mysql: onMysql,
  mariadb: onMysql,
  sqlite: (url) => {
    const db = openSqlite(url)
    return {
      db: db as unknown as DrizzlePg,
      account: sqliteAccount as unknown as typeof account,
      close: async () => void db.$client.close(),
    }
  },
}

function onMysql(url: string): DrizzleStage {
  const db = openMysql(url)
  return {
    db: db as unknown as DrizzlePg,
    account: mysqlAccount as unknown as typeof account,
    close: () => db.$client.end(),
  }
}

/** What Drizzle takes as well, and Holdfast does not. */
export async function openSingle(
  engine: string,
  url: string,
): Promise<{ readonly db: DrizzleDatabase; readonly close: () => Promise<void> }> {
  if (engine === 'postgres') {
    const client = new pg.Client(url)
    await client.connect()
    return { db: overPg(client), close: () => client.end() }
  }
  const connection = await mysql.createConnection(url)
  return { db: overMysql(connection), close: () => connection.end() }
}
