import type { Pool, PoolConnection } from 'mariadb'

import type { Row, Value } from '../../../src/core/statement.ts'
import { createLocks } from '../../../src/entries/mariadb.ts'
import { mariadbPool } from '../../engines/mariadb-pool.ts'
import type { Driver } from '../shop.ts'
import { sqlStore } from '../sql-store.ts'
import { driver as mysql2, isPassing } from './mysql2.ts'

/** The connector's own, in place of `mysql2`. */
export const driver: Driver<PoolConnection> = {
  ...(mysql2 as Omit<typeof mysql2, 'connect'>),
  connect: async (url, size) => {
    const pool = mariadbPool(url, { connectionLimit: size })
    const run = async (
      connection: Pool | PoolConnection,
      sql: string,
      params: readonly Value[] = [],
    ): Promise<readonly Row[]> => {
      const answer = await connection.query<unknown>({ sql, bigIntAsNumber: true }, [...params])
      return Array.isArray(answer) ? (answer as readonly Row[]) : []
    }
    return {
      ...sqlStore<PoolConnection>({
        run: (tx, sql, params) => run(tx ?? pool, sql, params),
        tableOptions: 'ENGINE = InnoDB',
      }),
      locks: createLocks(pool),
      sessionId: (tx) => String(tx.threadId),
      settings: async () =>
        (await run(pool, 'SHOW SESSION VARIABLES')).filter((row) => !isPassing(row.Variable_name)),
      tune: async () =>
        void (await run(pool, 'SET SESSION innodb_lock_wait_timeout = 33, SESSION lock_wait_timeout = 44')),
      close: () => pool.end(),
    }
  },
}
