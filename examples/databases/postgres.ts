import { createLocks } from 'holdfast/pg'
import pg from 'pg'

import { intoDatabase, type Database } from './database.ts'
import { numbered, sqlTables } from './tables.ts'

export const database: Database<pg.PoolClient> = {
  isBlindToOthers: true,
  connect: async ({ url, name, size }) => {
    const pool = new pg.Pool({ connectionString: intoDatabase(url, name), max: size })
    // a connection that breaks while nobody uses it is replaced; without a listener it would end the process
    pool.on('error', () => {})
    return {
      locks: createLocks(pool),
      tables: (tx) =>
        sqlTables(async (sql, params) => (await (tx ?? pool).query(numbered(sql, '$'), [...params])).rows),
      close: () => pool.end(),
    }
  },
}
