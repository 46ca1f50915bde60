import { leaseQuestion, readLeases } from '../inspect-lease.ts'
import { sql } from '../sql.ts'
import type { Inspector } from '../tools.ts'
import { nowMs } from './syntax.ts'

/**
 * There is no server that keeps a list. Whether the file's one write lock is held could only be found out by taking it,
 * which would turn a writer away meanwhile: `PRAGMA lock_status` exists in debug builds alone.
 */
export const inspector: Inspector = {
  questions: () => ({
    leaseTable: {
      ask: sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name = '_leases'"),
      unknown: 'whether there are leases',
    },
    leases: { ...leaseQuestion(nowMs), onlyIf: 'leaseTable' },
  }),
  read: ({ leases }) => ({ sessions: [], leases: readLeases(leases) }),
  blindSpots: [
    'who has the write lock of the file: SQLite keeps no list of connections, and to ask is to take the lock',
  ],
  showsWaiting: false,
}
