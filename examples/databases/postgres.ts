import { createLocks } from 'holdfast/pg'
import pg from 'pg'

import { intoDatabase, newName, urlOf, type Database } from './database.ts'

export async function create(): Promise<Database<pg.PoolClient>> {
  const url = urlOf('postgres')
  const name = newName()
  const admin = new pg.Client(url)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  return {
    isolation: 'serializable',
    connect: async () => {
      const pool = new pg.Pool({ connectionString: intoDatabase(url, name) })
      return {
        locks: createLocks(pool),
        query: async (tx, sql, params) => (await tx.query(numbered(sql), [...params])).rows,
        queryAlone: async (sql) => (await pool.query(sql)).rows,
        close: () => pool.end(),
      }
    },
    drop: async () => {
      await admin.query(`DROP DATABASE ${name}`)
      await admin.end()
    },
  }
}

/** The stories write `?` for a parameter; PostgreSQL counts them: `$1`, `$2`. */
function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll('?', () => `$${(count += 1)}`)
}
