import { sql } from './sql.ts'
import type { LeaseTable } from './tools.ts'

/** How a table of leases goes that nobody uses, where a transaction alone keeps others out of it. */
export const leaseTableEnd: LeaseTable = {
  anyRow: sql('SELECT name FROM _leases LIMIT 1'),
  drop: sql('DROP TABLE _leases'),
}
