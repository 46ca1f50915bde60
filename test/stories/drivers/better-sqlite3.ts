import Database from 'better-sqlite3'

import type { Row } from '../../../src/core/statement.ts'
import { createLocks } from '../../../src/entries/better-sqlite3.ts'
import type { Driver } from '../shop.ts'
import { sqlStore } from '../sql-store.ts'

const pragmas = [
  'busy_timeout',
  'foreign_keys',
  'query_only',
  'read_uncommitted',
  'locking_mode',
  'synchronous',
]

export const driver: Driver<Database.Database> = {
  hasProcesses: true,
  // A transaction that has read something older than the newest commit cannot write any more.
  controls: { change: 'before', add: 'before' },
  waits: 'begin',
  isOwnError: (error) => error instanceof Database.SqliteError,
  takesText: true,
  refusesUnknownTable: true,
  canBeClosed: true,
  connect: async (url, size) => {
    const own = new Database(url)
    return {
      ...sqlStore<Database.Database>({
        run: async (tx, sql, params) => {
          const statement = (tx ?? own).prepare<unknown[], Row>(sql)
          if (statement.reader) return statement.all(...params)
          statement.run(...params)
          return []
        },
      }),
      locks: createLocks(size === 1 ? own : () => new Database(url)),
      sessionId: () => 'none: SQLite has no name for a connection',
      settings: async () => pragmas.map((name) => ({ name, value: own.pragma(name, { simple: true }) })),
      tune: async () => void own.pragma('busy_timeout = 1234'),
      close: async () => void own.close(),
    }
  },
}
