import type { Isolation } from '../../core/request.ts'
import type { Row } from '../../core/statement.ts'
import { unsupported, type Unsupported } from '../../core/support.ts'
import { isOn, settingsIn } from '../finding-settings.ts'
import type { NamedLockTraits } from '../named-lock.ts'
import { sql } from '../sql.ts'
import { peers } from './peers.ts'

/**
 * MySQL's and MariaDB's user locks, which live in the memory of one server.
 *
 * SHOW lists the variables that a server has, and is silent about those it has not.
 */
export const named: NamedLockTraits = {
  keptBy: 'connection',
  doubts: {
    ask: sql(
      "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_single_primary_mode', " +
        "'read_only', 'super_read_only')",
    ),
    read,
  },
  defaultIsolation: {
    // the name changed with MySQL 5.7.20 and MariaDB 11.1; servers in between have both
    ask: sql("SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')"),
    read: (row) => String(row?.Value).toLowerCase().replace('-', ' ') as Isolation,
  },
  // REPEATABLE READ reads as of its first read, and SERIALIZABLE locks what it reads.
  canJoin: (isolation) =>
    isolation === 'read committed' || isolation === 'read uncommitted' || isolation === 'serializable',
}

function read(rows: readonly Row[]): Unsupported | undefined {
  const settings = settingsIn(rows, 'Variable_name', 'Value')
  const isReadOnly = ['read_only', 'super_read_only'].some((name) => isOn(settings.get(name) ?? ''))
  return peers.read(rows) ?? (isReadOnly ? readOnly : undefined)
}

const readOnly = unsupported(
  'this server is read-only, as replicas are: its user locks exclude nobody on the primary',
  'connect to the primary',
)
