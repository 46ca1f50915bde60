import { sessions, type PgClient, type PgPool, type PgSessionOptions } from '../adapters/pg/sessions.ts'
import { postgres } from '../dialects/postgres/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { PgAnswer, PgQuery, PgResult, PgSender } from '../adapters/pg/ask.ts'
export { sessions, type PgClient, type PgPool, type PgSessionOptions } from '../adapters/pg/sessions.ts'
export { traits } from '../adapters/pg/traits.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** What `createLocks` may be told of the server, and of how it is to be spoken to. */
export interface PgLocksOptions extends LocksOptions<'postgres'>, PgSessionOptions {}

/**
 * Locks on the PostgreSQL server that a `pg` pool reaches. The work receives one of the pool's clients.
 *
 * @example
 * import pg from 'pg'
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
 * const locks = createLocks(pool)
 * await locks.withLock('greeting', async (tx) => (await tx.query("SELECT 'hello' AS word")).rows) // => [{ word: 'hello' }]
 */
export function createLocks<Client extends PgClient>(
  pool: PgPool<Client>,
  options?: PgLocksOptions,
): Locks<Client, 'postgres'> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline')
  return joinLocks(sessions(pool, told), [postgres], told)
}
