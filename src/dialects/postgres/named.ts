import type { Isolation } from '../../core/request.ts'
import type { Row } from '../../core/statement.ts'
import { unsupported, type Unsupported } from '../../core/support.ts'
import type { NamedLockTraits } from '../named-lock.ts'
import { sql } from '../sql.ts'
import { withColumns } from './columns.ts'
import { inHead } from './in-head.ts'
import { isTrue } from './boolean.ts'

/** Every transaction holds a lock on its own number: `<backend>/<the how-manieth of that backend>`. */
const turn = `(SELECT split_part(virtualtransaction, '/', 2) FROM pg_locks
         WHERE locktype = 'virtualxid' AND pid = pg_backend_pid() LIMIT 1)`

/**
 * Takes a lock that nobody else asks for, looks for it in the list of locks, and gives it back.
 *
 * One statement, so that a pooler cannot spread it over two servers. Each step reads a column of the step before, and
 * OFFSET 0 keeps the planner from merging the steps, which could repeat or reorder them. The key is the backend's own
 * number behind the letters `hold`: no two sessions have the same one.
 */
const ask = sql(`
SELECT pid::text AS backend, ${turn} AS turn, pg_is_in_recovery() AS standby, taken, listed,
       CASE WHEN listed IS NOT NULL THEN pg_advisory_unlock(key) END AS freed
  FROM (SELECT pid, key, taken,
               (SELECT count(*) > 0 FROM pg_locks
                 WHERE locktype = 'advisory' AND granted AND taken
                   AND pid = own.pid AND classid = 1752132708 AND objid = own.pid::oid AND objsubid = 1) AS listed
          FROM (SELECT pid, key, pg_try_advisory_lock(key) AS taken
                  FROM (SELECT pid, (1752132708::bigint << 32) | pid AS key
                          FROM (SELECT pg_backend_pid() AS pid OFFSET 0) AS self OFFSET 0) AS named
                OFFSET 0) AS own
        OFFSET 0) AS seen`)

const backend = sql(`SELECT pg_backend_pid()::text AS backend, ${turn} AS turn`)

export const named: NamedLockTraits = {
  keptBy: 'connection',
  doubts: { ask, read, backend },
  defaultIsolation: {
    ask: sql('SHOW default_transaction_isolation'),
    inside: sql('SHOW transaction_isolation'),
    read: (row) => String(row?.default_transaction_isolation ?? row?.transaction_isolation) as Isolation,
    goesWithBegin: true,
  },
  // Above READ COMMITTED the transaction reads as of its first statement, whatever it waits for afterwards.
  canJoin: (isolation) => isolation === 'read committed' || isolation === 'read uncommitted',
  inHead,
  withColumns,
}

function read([row]: readonly Row[]): Unsupported | undefined {
  if (isTrue(row?.standby)) {
    return unsupported(
      'this server is a standby: its locks exclude nobody on the primary',
      'connect to the primary',
    )
  }
  if (isTrue(row?.taken) && isTrue(row?.listed) && isTrue(row?.freed)) return undefined
  return unsupported(
    'the advisory functions of this server lock nothing: a lock just taken is not in pg_locks',
    'locks.lease(...)',
  )
}
