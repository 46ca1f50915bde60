import Database from 'better-sqlite3'

import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { createLocks } from '../../../src/entries/better-sqlite3.ts'
import { embedded, hideTx, type Ground, type Way } from '../ground.ts'

function groundOn(
  source: Database.Database | (() => Database.Database),
  shared: Database.Database | undefined,
): Ground<Database.Database> {
  const locks = createLocks(source)
  return {
    ...embedded,
    failures: ['duplicate', 'nonsense', 'ending'],
    locks,
    rows: (tx, { row, wait, ...lock }) =>
      locks.rows(
        tx,
        { table: 'spot', key: { id: row } },
        { ...lock, wait: wait === 'skip' ? 'nowait' : wait },
      ),
    send: async (tx, statement) => {
      const prepared = tx.prepare(sqlOnly(statement).sql)
      return prepared.reader ? prepared.all() : prepared.run()
    },
    say: async (tx, word) => tx.exec(word),
    settings: async () =>
      shared === undefined
        ? []
        : [`${shared.inTransaction} ${String(shared.pragma('busy_timeout', { simple: true }))}`],
    close: async () => void shared?.close(),
  }
}

export const onBetterSqlite3: readonly Way[] = [
  hideTx({
    title: 'better-sqlite3, a handle for each',
    engines: ['sqlite'],
    open: async (url) => groundOn(() => new Database(url), undefined),
  }),
  hideTx({
    title: 'better-sqlite3, one handle for all',
    engines: ['sqlite'],
    open: async (url) => {
      const handle = new Database(url)
      return groundOn(handle, handle)
    },
  }),
]
