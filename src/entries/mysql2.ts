import { sessions, type Mysql2Connection, type Mysql2Pool } from '../adapters/mysql2/sessions.ts'
import { mariadb } from '../dialects/mariadb/index.ts'
import { mysql } from '../dialects/mysql/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export {
  sessions,
  traits,
  type Mysql2Connection,
  type Mysql2Pool,
  type Mysql2Query,
} from '../adapters/mysql2/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** What the driver reaches. */
const dialects = [mysql, mariadb]

/**
 * Locks on the MySQL or MariaDB server that a `mysql2/promise` pool reaches; the server says which of the two it is,
 * unless it is told. The work receives one of the pool's connections.
 */
export function createLocks<
  Connection extends Mysql2Connection,
  Dialect extends 'mysql' | 'mariadb' = 'mysql' | 'mariadb',
>(pool: Mysql2Pool<Connection>, options?: LocksOptions<Dialect>): Locks<Connection, Dialect> {
  const told = checkLocksOptions(options)
  return joinLocks(sessions(pool), dialects, told)
}
