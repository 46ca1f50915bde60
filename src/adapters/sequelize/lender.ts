import type { Lender, Room } from '../orm/lender.ts'
import type { ConnectionManager } from './instance.ts'

interface Ending {
  end?: () => unknown
  destroy?: () => unknown
}

/** Lends connections that write: with replication none of those that only read. */
export function lenderOf<Connection>(manager: ConnectionManager): Lender<Connection> {
  const discard = (connection: object): void => {
    const { destroy, end } = connection as Ending
    // first: Sequelize says good-bye to the server, and until that answers, nobody who waits is given another one
    if (destroy === undefined) void Promise.resolve(end?.call(connection)).catch(() => {})
    else destroy.call(connection)
    void manager.destroyConnection(connection).catch(() => {})
  }
  const lender: Lender<object> = {
    lend: () => manager.getConnection({}),
    giveBack: (connection) => manager.releaseConnection(connection),
    discard,
  }
  return lender as unknown as Lender<Connection>
}

/** Undefined where the application has put a pool of another kind in place of Sequelize's. */
export function roomOf({ pool }: ConnectionManager): Room | undefined {
  const { maxSize, size, available } = pool.write ?? pool
  if (maxSize === undefined || size === undefined || available === undefined) return undefined
  return { max: maxSize, total: size, idle: available }
}
