import SQLite from 'better-sqlite3'
import type { Row } from 'holdfast'
import { createLocks } from 'holdfast/better-sqlite3'

import type { Database } from './database.ts'
import { sqlTables } from './tables.ts'

export const database: Database<SQLite.Database> = {
  isBlindToOthers: false, // one writer at a time
  connect: async ({ name }) => {
    const own = new SQLite(name)
    return {
      // a function: each transaction has a handle of its own, and others go on meanwhile
      locks: createLocks(() => new SQLite(name)),
      tables: (tx = own) =>
        sqlTables(async (sql, params) => {
          const statement = tx.prepare<unknown[], Row>(sql)
          if (statement.reader) return statement.all(...params)
          statement.run(...params)
          return []
        }),
      close: async () => own.close(),
    }
  },
}
