import Database from 'better-sqlite3'
import { Kysely, PostgresDialect, sql, SqliteDialect } from 'kysely'
import { createPool } from 'mysql2/promise'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

import { createLocks as locksOnMysql } from '../../src/entries/mysql2.ts'
import { createLocks as locksOnPg } from '../../src/entries/pg.ts'

export type Row = Readonly<Record<string, unknown>>
export type Run = (text: string) => Promise<readonly Row[]>

/** A table of numbers by id, and the ways of an application to it. */
export interface Shop {
  /** What the explorer is given. */
  readonly db: object
  /** Without a transaction. */
  readonly run: Run
  readonly transaction: <T>(work: (run: Run) => Promise<T>, isolation?: string) => Promise<T>
  /** In a transaction at REPEATABLE READ, under a lock of ours with a name. */
  readonly withLock: <T>(work: (run: Run) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

/** One that has transactions of the library, too. */
export interface LockedShop extends Shop {
  readonly ours: Shop['transaction']
}

export interface PgShop extends LockedShop {
  readonly pool: pg.Pool
}

const table = 'CREATE TABLE IF NOT EXISTS item (id int PRIMARY KEY, n int NOT NULL)'
// not what is the default somewhere: MariaDB 11.6 refuses there what a race would lose
const level = { isolation: 'read committed' } as const
const lockLevel = { isolation: 'repeatable read' } as const

export async function fill({ run }: Shop, rows: Readonly<Record<number, number>>): Promise<void> {
  await run('DELETE FROM item')
  const values = Object.entries(rows).map(([id, n]) => `(${id}, ${n})`)
  await run(`INSERT INTO item VALUES ${values.join(', ')}`)
}

export async function numberOf({ run }: Shop, id: number): Promise<number> {
  return Number((await run(`SELECT n FROM item WHERE id = ${id}`))[0]?.n)
}

export async function pgShop(url: string, max = 10): Promise<PgShop> {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  await pool.query(table)
  const runOn =
    (on: Pick<pg.ClientBase, 'query'>): Run =>
    async (text) =>
      (await on.query(text)).rows as readonly Row[]
  const locks = locksOnPg(pool)
  return {
    db: pool,
    pool,
    run: async (text) => (await pool.query(text)).rows,
    transaction: async (work, isolation = 'READ COMMITTED') => {
      const client = await pool.connect()
      try {
        await client.query(`BEGIN ISOLATION LEVEL ${isolation}`)
        const value = await work(runOn(client))
        await client.query('COMMIT')
        return value
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    ours: (work) => locks.transaction((tx) => work(runOn(tx)), level),
    withLock: (work) => locks.withLock('shop', (tx) => work(runOn(tx)), lockLevel),
    close: () => pool.end(),
  }
}

export async function mysqlShop(url: string): Promise<LockedShop> {
  const pool = createPool({ uri: url })
  await pool.query(table)
  const locks = locksOnMysql(pool)
  type Way = { query: (text: string) => Promise<readonly [unknown, unknown]> }
  const runOn =
    (on: Way): Run =>
    async (text) => {
      const [rows] = await on.query(text)
      return Array.isArray(rows) ? (rows as readonly Row[]) : []
    }
  return {
    db: pool,
    run: runOn(pool),
    transaction: async (work, isolation = 'REPEATABLE READ') => {
      const connection = await pool.getConnection()
      try {
        await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
        await connection.beginTransaction()
        const value = await work(runOn(connection))
        await connection.commit()
        return value
      } catch (error) {
        await connection.rollback()
        throw error
      } finally {
        connection.release()
      }
    },
    ours: (work) => locks.transaction((tx) => work(runOn(tx as Way)), level),
    withLock: (work) => locks.withLock('shop', (tx) => work(runOn(tx as Way)), lockLevel),
    close: () => pool.end(),
  }
}

/** Kysely: on SQLite it has one connection, on which transactions take turns. */
async function kyselyShop(dialect: PostgresDialect | SqliteDialect): Promise<Shop> {
  const db = new Kysely<Record<string, never>>({ dialect })
  const runOn =
    (on: Kysely<Record<string, never>>): Run =>
    async (text) =>
      (await sql.raw(text).execute(on)).rows as readonly Row[]
  const transaction: Shop['transaction'] = (work) => db.transaction().execute((tx) => work(runOn(tx)))
  await runOn(db)(table)
  return { db, run: runOn(db), transaction, withLock: transaction, close: () => db.destroy() }
}

export function kyselyOnPg(url: string): Promise<Shop> {
  return kyselyShop(new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }))
}

export function kyselyOnSqlite(): Promise<Shop> {
  const database = new Database(join(mkdtempSync(join(tmpdir(), 'race-')), 'shop.db'))
  // no order depends on a disk
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = off')
  return kyselyShop(new SqliteDialect({ database }))
}
