import mysql from 'mysql2/promise'

import type { Row, Value } from '../../../src/core/statement.ts'
import { createLocks } from '../../../src/entries/mysql2.ts'
import type { Driver } from '../shop.ts'
import { sqlStore } from '../sql-store.ts'

/** Variables that say something about the statement before, the clock or the connection's number. */
const passing =
  /^(timestamp|rand_seed\d|last_insert_id|insert_id|identity|pseudo_thread_id|error_count|warning_count|last_gtid|statement_id|in_transaction)$/

export function isPassing(variable: unknown): boolean {
  return passing.test(String(variable))
}

export const driver: Driver<mysql.PoolConnection> = {
  hasProcesses: true,
  controls: { change: 'in-transaction', add: 'in-transaction' },
  waits: 'server',
  isOwnError: (error) => error instanceof Error && 'errno' in error && 'sqlState' in error,
  killStatement: (id) => ({ sql: `KILL QUERY ${Number(id)}`, params: [] }),
  takesText: true,
  refusesUnknownTable: true,
  canBeClosed: true,
  connect: async (url, size) => {
    const pool = mysql.createPool({ uri: url, connectionLimit: size })
    const run = async (
      connection: mysql.Pool | mysql.PoolConnection,
      sql: string,
      params: readonly Value[] = [],
    ): Promise<readonly Row[]> => {
      const [answer] = await connection.query(sql, [...params])
      return Array.isArray(answer) ? (answer as readonly Row[]) : []
    }
    return {
      ...sqlStore<mysql.PoolConnection>({
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
