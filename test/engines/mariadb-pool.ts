import { createPool, type Pool, type PoolConfig } from 'mariadb'

/** A pool of two of the connector's, to either server. */
export function mariadbPool(url: string, options: PoolConfig = {}): Pool {
  const pool = createPool({ ...configOf(url), connectionLimit: 2, ...options })
  // its typings do not know that it tells of connections that it cannot make
  ;(pool as unknown as NodeJS.EventEmitter).on('error', () => {})
  return pool
}

/** Where a server is, for any release of the connector. */
type Address = Required<
  Pick<
    PoolConfig,
    | 'host'
    | 'port'
    | 'user'
    | 'password'
    | 'database'
    | 'allowPublicKeyRetrieval'
    | 'connectTimeout'
    | 'acquireTimeout'
  >
>

/**
 * The connector takes no address that begins with `mysql:`, and needs MySQL's key unless the line is encrypted. Left to
 * itself it gives up after 1 s without a connection and 10 s without one of its pool, which a busy machine can need.
 */
export function configOf(url: string): Address {
  const { hostname: host, port, username, password, pathname } = new URL(url)
  return {
    host,
    port: Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    allowPublicKeyRetrieval: true,
    connectTimeout: 120_000,
    acquireTimeout: 120_000,
  }
}
