import type { Session, Sessions } from '../../core/session.ts'
import { laneOf } from '../better-sqlite3/lane.ts'
import { sessions as sqliteSessions, type SqliteDatabase } from '../better-sqlite3/sessions.ts'
import type { Mysql2Connection, Mysql2Pool } from '../mysql2/sessions.ts'
import type { ListeningPool } from '../pg/listen.ts'
import type { PgClient, PgPool } from '../pg/sessions.ts'
import { viewOf } from '../transaction-view.ts'

/** An ORM that has a pool of its own, and lends a driver's connection of it. */
export interface Lender<Connection> {
  readonly lend: () => Promise<Connection>
  readonly giveBack: (connection: Connection) => unknown
  /** Takes it back as one that nobody is to have again, and ends it. */
  readonly discard: (connection: Connection, why: Error) => unknown
}

/** A connection of `pg` that is not a pool's. */
export type OwnPgClient = Omit<PgClient, 'release'>

/** How many connections a lender has, as a pool of `pg` tells it. */
export interface Room {
  readonly max: number
  readonly total: number
  readonly idle: number
}

/** The lender as a pool of `pg`. */
export function pgPoolOf(
  { lend, giveBack, discard }: Lender<OwnPgClient>,
  room?: () => Room | undefined,
): PgPool & ListeningPool {
  const viewOn = (client: OwnPgClient): PgClient => {
    const release = (why?: Error): void => void (why === undefined ? giveBack(client) : discard(client, why))
    return viewOf(client as PgClient, (name) => (name === 'release' ? release : undefined))
  }
  // one for the life of the connection: what is done to a client once is done once
  const views = new WeakMap<OwnPgClient, PgClient>()
  const connect = async (): Promise<PgClient> => {
    const client = await lend()
    const view = views.get(client) ?? viewOn(client)
    views.set(client, view)
    return view
  }
  return {
    connect,
    get options() {
      const max = room?.()?.max
      return max === undefined ? {} : { max }
    },
    get totalCount() {
      return room?.()?.total ?? 0
    },
    get idleCount() {
      return room?.()?.idle ?? 0
    },
  }
}

/** A connection of `mysql2` that answers by callback. */
export interface OwnMysqlConnection {
  promise(): object
}

/** The lender as a pool of `mysql2/promise`. */
export function mysqlPoolOf({ lend, giveBack, discard }: Lender<OwnMysqlConnection>): Mysql2Pool {
  return {
    getConnection: async () => {
      const connection = await lend()
      const own: Readonly<Record<PropertyKey, () => void>> = {
        release: () => void giveBack(connection),
        destroy: () => void discard(connection, new Error('the connection was ended')),
      }
      return viewOf(connection.promise() as Mysql2Connection, (name) => own[name])
    },
  }
}

/** Sessions on the handles of a lender: what else has a handle meanwhile has another. */
export function sqliteSessionsOf(
  { lend, giveBack, discard }: Lender<SqliteDatabase>,
  anyHandle: () => SqliteDatabase,
): Sessions<object> {
  const open = async (): Promise<Session<object>> => {
    const handle = await lend()
    // a database in memory is gone with its handle, so only one that had to be closed is not given back
    const end = (why: Error): unknown => (handle.open === false ? discard(handle, why) : giveBack(handle))
    const session = await sqliteSessions(handle)
      .open()
      .catch((error: unknown) => {
        giveBack(handle)
        throw error
      })
    return {
      ...session,
      release: () => session.release().finally(() => giveBack(handle)),
      destroy: (why) => session.destroy(why).finally(() => end(why)),
    }
  }
  return { open, lane: laneOf(anyHandle) }
}
