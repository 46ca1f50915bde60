import { sessions, type DuckdbConnection, type DuckdbInstance } from '../adapters/duckdb/sessions.ts'
import { duckdb } from '../dialects/duckdb/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export {
  sessions,
  type DuckdbConnection,
  type DuckdbInstance,
  type DuckdbResult,
  type DuckdbStatement,
} from '../adapters/duckdb/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/**
 * Locks on a DuckDB database that this process has open. The work receives a connection of its own.
 *
 * Take the instance from `DuckDBInstance.fromCache`: two instances of one file know nothing of each other.
 */
export function createLocks<Connection extends DuckdbConnection>(
  instance: DuckdbInstance<Connection>,
  options?: LocksOptions<'duckdb'>,
): Locks<Connection, 'duckdb'> {
  const told = checkLocksOptions(options)
  return joinLocks(sessions(instance), [duckdb], told)
}
