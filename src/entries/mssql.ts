import {
  sessions,
  type MssqlPool,
  type MssqlSessionOptions,
  type MssqlTransaction,
} from '../adapters/mssql/sessions.ts'
import { mssql } from '../dialects/mssql/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export {
  isolationLevels,
  sessions,
  type MssqlPool,
  type MssqlSessionOptions,
  type MssqlTransaction,
} from '../adapters/mssql/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** What `createLocks` may be told of the server, and of how it is spoken to. */
export interface MssqlLocksOptions extends LocksOptions<'mssql'>, MssqlSessionOptions {}

/** Locks on the SQL Server that a connected `mssql` pool reaches. The work receives the driver's `Transaction`. */
export function createLocks<Transaction extends MssqlTransaction>(
  pool: MssqlPool<Transaction>,
  options?: MssqlLocksOptions,
): Locks<Transaction, 'mssql'> {
  const told = checkLocksOptions(options, 'requestTimeoutMs')
  return joinLocks(sessions(pool, told), [mssql], told)
}
