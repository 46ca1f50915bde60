import pg from 'pg'

import { createLocks } from '../../../src/entries/pg.ts'
import type { Driver } from '../shop.ts'
import { sqlStore } from '../sql-store.ts'

export const driver: Driver<pg.PoolClient> = {
  hasProcesses: true,
  controls: { change: 'in-transaction', add: 'in-transaction' },
  waits: 'server',
  isOwnError: (error) => error instanceof pg.DatabaseError,
  killStatement: (id) => ({ sql: 'SELECT pg_cancel_backend($1)', params: [Number(id)] }),
  takesText: true,
  refusesUnknownTable: true,
  canBeClosed: true,
  connect: async (url, size) => {
    const pool = new pg.Pool({ connectionString: url, max: size })
    pool.on('error', () => {})
    return {
      ...sqlStore<pg.PoolClient>({
        run: async (tx, sql, params) => (await (tx ?? pool).query(sql, [...params])).rows,
        parameter: (position) => `$${position}`,
      }),
      locks: createLocks(pool),
      sessionId: (tx) => String((tx as { readonly processID?: number }).processID),
      settings: async () => (await pool.query('SELECT name, setting FROM pg_settings ORDER BY name')).rows,
      tune: async () => void (await pool.query("SET lock_timeout = 7000; SET statement_timeout = '9min'")),
      close: () => pool.end(),
    }
  },
}
