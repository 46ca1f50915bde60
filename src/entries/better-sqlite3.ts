import { sessions, type SqliteDatabase } from '../adapters/better-sqlite3/sessions.ts'
import { sqlite } from '../dialects/sqlite/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { SqliteStatement } from '../adapters/better-sqlite3/waiting.ts'
export { sessions, traits, type SqliteDatabase } from '../adapters/better-sqlite3/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/**
 * Locks on an SQLite database. The work receives a view of the handle, which is refused after the transaction's end.
 *
 * A function opens a handle for each transaction; a handle is shared by one transaction after another, and by whatever
 * the application runs on it meanwhile, so prefer the function.
 *
 * @example
 * import Database from 'better-sqlite3'
 *
 * const locks = createLocks(() => new Database(process.env.DATABASE_URL ?? 'app.db'))
 * await locks.withLock('greeting', async (tx) => tx.prepare("SELECT 'hello' AS word").all()) // => [{ word: 'hello' }]
 */
export function createLocks<Database extends SqliteDatabase>(
  source: Database | (() => Database),
  options?: LocksOptions<'sqlite'>,
): Locks<Database, 'sqlite'> {
  const told = checkLocksOptions(options)
  return joinLocks(sessions(source), [sqlite], told)
}
