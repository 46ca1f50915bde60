import { createLocks } from 'holdfast/mysql2'
import type { Row } from 'holdfast'
import mysql from 'mysql2/promise'

import { intoDatabase, newName, urlOf, type Database } from './database.ts'

/** On MySQL or MariaDB: the driver is the same. */
export async function create(dialect: string): Promise<Database<mysql.PoolConnection>> {
  const url = urlOf(dialect)
  const name = newName()
  const admin = await mysql.createConnection(url)
  await admin.query(`CREATE DATABASE ${name}`)
  return {
    isolation: 'serializable',
    connect: async () => {
      const pool = mysql.createPool(intoDatabase(url, name))
      return {
        locks: createLocks(pool),
        query: async (tx, sql, params) => rowsOf(await tx.query(sql, [...params])),
        queryAlone: async (sql) => rowsOf(await pool.query(sql)),
        close: () => pool.end(),
      }
    },
    drop: async () => {
      await admin.query(`DROP DATABASE ${name}`)
      await admin.end()
    },
  }
}

function rowsOf([answer]: [mysql.QueryResult, unknown]): readonly Row[] {
  return Array.isArray(answer) ? (answer as readonly Row[]) : []
}
