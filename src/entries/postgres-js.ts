import type { PostgresJsSql } from '../adapters/postgres-js/driver.ts'
import { sessions } from '../adapters/postgres-js/sessions.ts'
import { postgres } from '../dialects/postgres/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export { sessions } from '../adapters/postgres-js/sessions.ts'
export type { PostgresJsOptions, PostgresJsSql, UnsafeOptions } from '../adapters/postgres-js/driver.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** What `begin` of postgres.js gives to its function. */
export type TransactionOf<S> = S extends {
  begin(options: string, work: (sql: infer Tx) => never): unknown
}
  ? Tx
  : never

/** Locks on the PostgreSQL server that postgres.js reaches. The work receives what `sql.begin` would give it. */
export function createLocks<S extends PostgresJsSql>(
  sql: S,
  options?: LocksOptions<'postgres'>,
): Locks<TransactionOf<S>, 'postgres'> {
  const told = checkLocksOptions(options)
  return joinLocks(sessions(sql), [postgres], told) as unknown as Locks<TransactionOf<S>, 'postgres'>
}
