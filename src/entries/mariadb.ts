import { sessions, type MariadbConnection, type MariadbPool } from '../adapters/mariadb/sessions.ts'
import { mariadb } from '../dialects/mariadb/index.ts'
import { mysql } from '../dialects/mysql/index.ts'
import { joinLocks, type Locks, type LocksOptions } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export {
  sessions,
  type MariadbConnection,
  type MariadbPool,
  type MariadbQuery,
} from '../adapters/mariadb/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** What the driver reaches. */
const dialects = [mariadb, mysql]

/**
 * Locks on the MariaDB or MySQL server that a pool of `mariadb` reaches; the server says which of the two it is, unless
 * it is told. The work receives one of the pool's connections.
 */
export function createLocks<
  Connection extends MariadbConnection,
  Dialect extends 'mariadb' | 'mysql' = 'mariadb' | 'mysql',
>(pool: MariadbPool<Connection>, options?: LocksOptions<Dialect>): Locks<Connection, Dialect> {
  const told = checkLocksOptions(options)
  return joinLocks(sessions(pool), dialects, told)
}
