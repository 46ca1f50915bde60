import { createLocks } from 'holdfast/mysql2'
import type { Row } from 'holdfast'
import mysql from 'mysql2/promise'

import { intoDatabase, type Database } from './database.ts'
import { sqlTables } from './tables.ts'

/** MySQL or MariaDB: the driver is the same. */
export const database: Database<mysql.PoolConnection> = {
  isBlindToOthers: true,
  connect: async ({ url, name, size }) => {
    const pool = mysql.createPool({ uri: intoDatabase(url, name), connectionLimit: size })
    return {
      locks: createLocks(pool),
      tables: (tx) =>
        sqlTables(async (sql, params) => {
          const [answer] = await (tx ?? pool).query(sql, [...params])
          return Array.isArray(answer) ? (answer as readonly Row[]) : []
        }),
      close: () => pool.end(),
    }
  },
}
