import { unsupported } from '../../core/support.ts'
import type { NamedLockTraits } from '../named-lock.ts'
import { sql } from '../sql.ts'

/** @see https://learn.microsoft.com/sql/t-sql/functions/databasepropertyex-transact-sql */
export const named: NamedLockTraits = {
  keptBy: 'connection',
  doubts: {
    ask: sql("SELECT CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(128)) AS updateability"),
    read: ([row]) =>
      row?.updateability === 'READ_ONLY'
        ? unsupported(
            'this database is read-only, as secondary replicas are: its locks exclude nobody on the primary',
            'connect to the primary',
          )
        : undefined,
  },
  // A snapshot is fixed by the first read, which may have been before the lock.
  canJoin: (isolation) => isolation !== 'snapshot',
}
