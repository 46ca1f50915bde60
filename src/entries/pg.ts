import { sessions, type PgClient, type PgPool } from '../adapters/pg.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'

export { sessions, traits, type PgClient, type PgPool, type PgResult } from '../adapters/pg.ts'
export { withTxRetry, type Locks, type LocksOptions, type RowOptionsOf, type WaitOf } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type { Retry, TransactionOptions } from '../locks/transaction/options.ts'
export type { LockPlaces, RowQuery, SqlQuery } from '../locks/rows/query.ts'
export type { LockedRows, RowOptions } from '../locks/rows/rows.ts'

/** Locks on the PostgreSQL server that a `pg` pool reaches. The work receives one of the pool's clients. */
export function createLocks<Client extends PgClient>(
  pool: PgPool<Client>,
  options?: LocksOptions<'postgres'>,
): Locks<Client, 'postgres'> {
  return joinLocks(sessions(pool), ['postgres'], options)
}
