import { leaseQuestion, readLeases } from '../inspect-lease.ts'
import { sql } from '../sql.ts'
import type { Inspector } from '../tools.ts'
import { nowMs } from './syntax.ts'

/** `duckdb_connection_count()` counts connections, but tells nothing of one that could be shown. */
export const inspector: Inspector = {
  questions: () => ({
    leaseTable: {
      ask: sql("SELECT table_name FROM duckdb_tables() WHERE table_name = '_leases'"),
      unknown: 'whether there are leases',
    },
    leases: { ...leaseQuestion(nowMs), onlyIf: 'leaseTable' },
  }),
  read: ({ leases }) => ({ sessions: [], leases: readLeases(leases) }),
  blindSpots: [
    'which transactions are open and what they have changed: DuckDB shows neither, and nobody waits in it',
  ],
  showsWaiting: false,
}
