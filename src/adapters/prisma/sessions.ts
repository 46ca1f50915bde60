import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import { laneOf } from '../better-sqlite3/lane.ts'
import { sessions as sqliteSessions, type SqliteDatabase } from '../better-sqlite3/sessions.ts'
import { sessions as mariadbSessions, type MariadbPool } from '../mariadb/sessions.ts'
import { dressed, type Dress } from '../orm/dressed.ts'
import { rewordable } from '../orm/rewording.ts'
import { sessions as pgSessions, type PgPool, type PgSessionOptions } from '../pg/sessions.ts'
import type { PrismaClientLike } from './client.ts'
import type { DriverAdapter } from './driver-adapter.ts'
import { exact } from './exact.ts'
import type { KnownAdapter, Lockable } from './lockable.ts'
import { prismaOff, prismaOn } from './transaction.ts'

/** A Prisma client, and what it reaches the database by. */
interface Joined {
  readonly held: Lockable
  /** Prisma opens what is below it when it connects, and another one when it connects again. */
  readonly connected: () => Promise<DriverAdapter>
  readonly on: Dress<object, object>['on']
  readonly options: PgSessionOptions
}

/** Sessions on connections of what is below a Prisma client. The work receives Prisma's own `tx`. */
export function sessions(
  client: PrismaClientLike,
  held: Lockable,
  options: PgSessionOptions = {},
): Sessions<object> {
  checkClient(client)
  const connected = async (): Promise<DriverAdapter> => {
    await client.$connect()
    const adapter = held.connected()
    if (adapter !== undefined) return adapter
    throw new LockUsageError('held', 'is not what the client was made with: give it held.adapter')
  }
  const on: Joined['on'] = (connection, wire) => prismaOn(client, rewordable(connection, wire), wire)
  return { ...ways[held.name]({ held, connected, on, options }), retryableCode: 'P2034' }
}

const ways: Readonly<Record<KnownAdapter, (joined: Joined) => Sessions<object>>> = {
  '@prisma/adapter-pg': onPg,
  '@prisma/adapter-mariadb': onMariadb,
  '@prisma/adapter-better-sqlite3': onSqlite,
}

function dressOf(on: Joined['on']): Dress<object, object> {
  return { on, off: prismaOff }
}

/** Sessions on the pool that Prisma is connected by: one that connects again has another. */
function onPool(
  { connected, on }: Joined,
  make: (pool: object) => Sessions<object>,
): () => Promise<Sessions<object>> {
  const byPool = new WeakMap<object, Sessions<object>>()
  return async () => {
    const { client: pool } = await connected()
    const known = byPool.get(pool) ?? dressed<object, object>(make(pool), dressOf(on))
    byPool.set(pool, known)
    return known
  }
}

function onPg(joined: Joined): Sessions<object> {
  const now = onPool(joined, (pool) => pgSessions(pool as PgPool, joined.options))
  return {
    open: async () => (await now()).open(),
    listen: async (topic, wake) => {
      const { listen } = await now()
      if (listen === undefined) throw new Error('the driver cannot listen')
      return listen(topic, wake)
    },
  }
}

function onMariadb(joined: Joined): Sessions<object> {
  const now = onPool(joined, (pool) => mariadbSessions(pool as MariadbPool))
  return { open: async () => (await now()).open() }
}

/** Each session has a handle of its own, as Prisma's adapter opens them: Prisma's own statements are on another. */
function onSqlite({ held, connected, on }: Joined): Sessions<object> {
  const dress = dressOf((handle, wire) => on(exact(handle as SqliteDatabase), wire))
  const unnamed = `a database of Prisma's, ${(lanes += 1)}`
  return {
    open: async () => {
      await connected()
      const { client } = await held.connect()
      const handle = client as SqliteDatabase & OwnHandle
      if (handle.memory) throw inMemory(handle)
      // Holdfast reads numbers
      handle.defaultSafeIntegers(false)
      return dressed<object, object>(
        sqliteSessions(() => handle),
        dress,
      ).open()
    },
    lane: () => {
      const main = held.connected()
      return main === undefined ? unnamed : laneOf(main.client as SqliteDatabase)()
    },
  }
}

let lanes = 0

interface OwnHandle {
  readonly memory: boolean
  defaultSafeIntegers(isOn: boolean): unknown
}

function inMemory(handle: SqliteDatabase): LockUsageError {
  handle.close()
  return new LockUsageError('adapter', 'a database in memory is another one for every handle: name a file')
}

function checkClient(client: Partial<PrismaClientLike>): void {
  const methods = [client.$connect, client.$extends, client.$transaction]
  if (methods.every((method) => typeof method === 'function')) return
  throw new LockUsageError('client', 'is not a client of Prisma: @prisma/client 7.10 is known to work')
}
