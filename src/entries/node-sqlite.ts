import { sessions, type NodeSqliteDatabase } from '../adapters/node-sqlite/sessions.ts'
import { sqlite } from '../dialects/sqlite/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export {
  sessions,
  type NodeSqliteDatabase,
  type NodeSqliteStatement,
} from '../adapters/node-sqlite/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/**
 * Locks on an SQLite database through Node's own `node:sqlite`. The work receives a view of the handle, which is refused
 * after the transaction's end.
 *
 * A function opens a handle for each transaction; a handle is shared by one transaction after another, and by whatever
 * the application runs on it meanwhile, so prefer the function.
 */
export function createLocks<Database extends NodeSqliteDatabase>(
  source: Database | (() => Database),
  options?: LocksOptions<'sqlite'>,
): Locks<Database, 'sqlite'> {
  const told = checkLocksOptions(options)
  return joinLocks({ ...sessions(source), adapter: 'node-sqlite' }, [sqlite], told)
}
