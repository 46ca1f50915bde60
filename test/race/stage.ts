import pg from 'pg'
import { expect } from 'vitest'

import type { Engine } from '../engines/engine.ts'

/** A table of numbers by id, and how an actor reads and writes it. */
export interface Shop {
  readonly db: object
  readonly set: (rows: Readonly<Record<number, number>>) => Promise<void>
  readonly read: (id: number) => Promise<number>
  /** Runs work in a transaction. */
  readonly transaction: <T>(work: (run: Run) => Promise<T>, isolation?: string) => Promise<T>
  readonly run: Run
  readonly close: () => Promise<void>
}

export type Run = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

export async function pgShop(url: string, max = 10): Promise<Shop & { readonly pool: pg.Pool }> {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  await pool.query('CREATE TABLE IF NOT EXISTS item (id int PRIMARY KEY, n int NOT NULL)')
  const run: Run = async (sql) => (await pool.query(sql)).rows
  return {
    db: pool,
    pool,
    run,
    set: async (rows) => {
      const values = Object.entries(rows).map(([id, n]) => `(${id}, ${n})`)
      await pool.query(`TRUNCATE item; INSERT INTO item VALUES ${values.join(', ')}`)
    },
    read: async (id) => Number((await run(`SELECT n FROM item WHERE id = ${id}`))[0]?.n),
    transaction: async (work, isolation = 'READ COMMITTED') => {
      const client = await pool.connect()
      try {
        await client.query(`BEGIN ISOLATION LEVEL ${isolation}`)
        const value = await work(async (sql) => (await client.query(sql)).rows)
        await client.query('COMMIT')
        return value
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    close: () => pool.end(),
  }
}

/** Nothing is left on the server, and the pool is as it was. */
export async function mustBeClean(engine: Engine, pool: pg.Pool): Promise<void> {
  expect(await engine.leftovers()).toEqual([])
  expect([Object.hasOwn(pool, 'connect'), pool.listenerCount('release')]).toEqual([false, 0])
  expect(pool.idleCount).toBe(pool.totalCount)
}
