import type { Row } from '../../core/statement.ts'
import { unsupported, type Unsupported } from '../../core/support.ts'
import { settingsIn, isOn } from '../finding-settings.ts'
import type { ServerDoubts } from '../named-lock.ts'
import { sql } from '../sql.ts'

/**
 * Galera, and Group Replication with several primaries: servers that check one another's changes when they commit, and
 * know nothing of one another's locks.
 *
 * SHOW lists the variables that a server has, and is silent about those it has not.
 */
export const peers: ServerDoubts = {
  ask: sql(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'group_replication_single_primary_mode')",
  ),
  read,
}

function read(rows: readonly Row[]): Unsupported | undefined {
  const settings = settingsIn(rows, 'Variable_name', 'Value')
  if (isOn(settings.get('wsrep_on') ?? ''))
    return refusal(
      'this server is a node of a Galera cluster (wsrep_on): the other nodes do not know its locks',
    )
  if (settings.get('group_replication_single_primary_mode') === 'OFF')
    return refusal('this server belongs to a group with several primaries: the others do not know its locks')
  return undefined
}

function refusal(reason: string): Unsupported {
  return unsupported(reason, 'locks.lease(...)')
}
