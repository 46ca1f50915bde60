import Database from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { drizzle as overSqlite } from 'drizzle-orm/better-sqlite3'
import { int, mysqlTable } from 'drizzle-orm/mysql-core'
import { drizzle as overMysql } from 'drizzle-orm/mysql2'
import { drizzle as overPg } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { integer as sqliteInteger, sqliteTable } from 'drizzle-orm/sqlite-core'
import mysql from 'mysql2/promise'
import pg from 'pg'

import { createLocks, type DrizzleDatabase } from '../../src/entries/drizzle.ts'
import type { Orm, OrmStage, StageOptions } from './stage.ts'

/** The column is not called what the property is: what Drizzle gives is its own making. */
const account = pgTable('account', { id: integer().primaryKey(), balance: integer('balance_now').notNull() })
const mysqlAccount = mysqlTable('account', { id: int().primaryKey(), balance: int('balance_now').notNull() })
const sqliteAccount = sqliteTable('account', {
  id: sqliteInteger().primaryKey(),
  balance: sqliteInteger('balance_now').notNull(),
})

type Account = typeof account
type Db = ReturnType<typeof onPg>['db']
type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** Drizzle's builders are the same for every database: their types are taken for those of PostgreSQL. */
interface Opened {
  readonly db: Db
  readonly account: Account
  readonly close: () => Promise<void>
}

function onPg(url: string, max: number) {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return { db: overPg(pool, { schema: { account } }), account, close: () => pool.end() }
}

function onMysql(url: string, connectionLimit: number): Opened {
  const pool = mysql.createPool({ uri: url, connectionLimit })
  const db = overMysql(pool, { schema: { account: mysqlAccount }, mode: 'default' })
  return {
    db: db as unknown as Db,
    account: mysqlAccount as unknown as Account,
    close: () => pool.end(),
  }
}

function onSqlite(url: string): Opened {
  const database = new Database(url, { timeout: 0 })
  const db = overSqlite(database, { schema: { account: sqliteAccount } })
  return {
    db: db as unknown as Db,
    account: sqliteAccount as unknown as Account,
    close: async () => void database.close(),
  }
}

const opening: Readonly<Record<string, (url: string, size: number) => Opened>> = {
  postgres: onPg,
  mysql: onMysql,
  mariadb: onMysql,
  sqlite: onSqlite,
}

export function openDrizzle(engine: string, url: string, size: number): Opened {
  const open = opening[engine]
  if (open === undefined) throw new Error(`Drizzle does not reach ${engine} here`)
  return open(url, size)
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

function stageOn({ db, account: table, close }: Opened, options: StageOptions): OrmStage<Tx> {
  const select = (id: number, tx: Pick<Tx, 'select'> = db) => tx.select().from(table).where(eq(table.id, id))
  return {
    locks: createLocks(db, { pipeline: options.pipeline }),
    query: select,
    select,
    selectSkipping: (id, tx) => select(id, tx).for('update', { skipLocked: true }),
    update: (tx, { id, balance }) => tx.update(table).set({ balance }).where(eq(table.id, id)),
    insert: (tx, row) => tx.insert(table).values(row),
    send: async (tx, text) => {
      const raw = tx as Partial<Tx> & { readonly run?: (query: unknown) => unknown }
      await (raw.execute === undefined ? raw.run?.(sql.raw(text)) : tx.execute(sql.raw(text)))
    },
    nest: (tx, work) => tx.transaction(work),
    ownTransaction: (work) => db.transaction(work),
    size: options.size,
    close,
  }
}

export const drizzle: Orm = {
  name: 'drizzle-orm',
  engines: Object.keys(opening),
  nesting: (engine) => (engine === 'sqlite' ? 'synchronous' : 'asynchronous'),
  open: async (engine, url, { size = 4, pipeline } = {}) =>
    stageOn(openDrizzle(engine, url, size), { size, pipeline }) as OrmStage,
}
