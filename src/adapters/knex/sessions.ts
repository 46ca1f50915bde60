import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import type { SqliteDatabase } from '../better-sqlite3/sessions.ts'
import { sessions as mysqlSessions } from '../mysql2/sessions.ts'
import { mustHave } from '../must-have.ts'
import { dressed, type Dress } from '../orm/dressed.ts'
import { rewordable } from '../orm/rewording.ts'
import { mysqlPoolOf, pgPoolOf, sqliteSessionsOf, type Lender, type Room } from '../orm/lender.ts'
import { sessions as pgSessions, type PgSessionOptions } from '../pg/sessions.ts'
import { unknownKnex } from './known.ts'
import { endTransaction, transactionOn, type KnexInstance } from './transaction.ts'

/** How PostgreSQL is spoken to through it. */
export type KnexSessionOptions = PgSessionOptions

/** What is used of a client of Knex's, one of which each instance has. */
interface KnexClient {
  readonly pool?: Partial<KnexPool>
  readonly driverName: string
  readonly driver: new (filename: string) => SqliteDatabase
  readonly connectionSettings?: { readonly filename?: string }
  acquireConnection(): Promise<KnexConnection>
  releaseConnection(connection: KnexConnection): unknown
}

/** What is used of the pool that Knex makes. */
interface KnexPool {
  readonly max: number
  numUsed(): number
  numFree(): number
  numPendingCreates(): number
}

/** The properties of a connection in which Knex notes what it knows of it. */
const [disposed, transactionId] = ['__knex__disposed', '__knexTxId'] as const

interface KnexConnection {
  [disposed]?: unknown
  [transactionId]?: unknown
  end?: () => unknown
  destroy?: () => unknown
}

/** By the name that Knex has for the driver. */
export type KnexKind = 'pg' | 'mysql2' | 'better-sqlite3'

const drivers: Readonly<
  Record<KnexKind, (client: KnexClient, options: KnexSessionOptions) => Sessions<object>>
> = {
  pg: (client, options) => {
    const { open, listen } = pgSessions(
      pgPoolOf(lenderOf(client), () => roomOf(client)),
      options,
    )
    // of a pool that is not Knex's own nobody can tell whether it has a connection to spare for listening
    return roomOf(client) === undefined || listen === undefined ? { open } : { open, listen }
  },
  mysql2: (client) => mysqlSessions(mysqlPoolOf(lenderOf(client))),
  'better-sqlite3': (client) =>
    sqliteSessionsOf(
      lenderOf(client),
      () => new client.driver(client.connectionSettings?.filename ?? ':memory:'),
    ),
}

/** What is below an instance of Knex, and how its transactions are had. */
export interface KnexWay {
  readonly kind: KnexKind
  readonly sessions: Sessions<object>
}

/** Throws for what is not an instance of Knex, and for a driver below it that Holdfast does not know. */
export function wayOf(knex: KnexInstance, options: KnexSessionOptions = {}): KnexWay {
  const client = clientOf(knex)
  const kind = kindOf(client)
  const own = drivers[kind](client, options)
  const dress: Dress<object, object> = {
    on: (connection, wire) => transactionOn(knex, rewordable(spokenTo(connection), wire)),
    off: endTransaction,
  }
  return { kind, sessions: dressed(own, dress) }
}

function clientOf(knex: KnexInstance): KnexClient {
  const pass = "an instance of Knex, as in createLocks(knex({ client: 'pg', connection }))"
  mustHave(knex, { field: 'knex', methods: ['transaction', 'raw'], pass, from: 'knex' })
  if ((knex as { readonly isTransaction?: boolean }).isTransaction === true)
    throw new LockUsageError('knex', 'is a transaction: give the instance of Knex that it was begun with')
  const client = knex.client as Partial<KnexClient> | undefined
  if (
    typeof client?.acquireConnection === 'function' &&
    typeof client.releaseConnection === 'function' &&
    typeof client.driverName === 'string'
  )
    return client as KnexClient
  throw unknownKnex('is not an instance of knex')
}

function kindOf({ driverName }: KnexClient): KnexKind {
  if (Object.hasOwn(drivers, driverName)) return driverName as KnexKind
  throw new LockUsageError(
    'knex',
    `its client ${driverName} is not one of ${Object.keys(drivers).join(', ')}`,
  )
}

function roomOf({ pool }: KnexClient): Room | undefined {
  if (pool?.numUsed === undefined || pool.numFree === undefined || pool.max === undefined) return undefined
  const idle = pool.numFree()
  return { max: pool.max, total: pool.numUsed() + idle + (pool.numPendingCreates?.() ?? 0), idle }
}

function lenderOf<Connection>(client: KnexClient): Lender<Connection> {
  const giveBack = (connection: KnexConnection): void => {
    delete connection[transactionId]
    client.releaseConnection(connection)
  }
  const discard = (connection: KnexConnection, why: Error): void => {
    // Knex lends nobody a connection that has this mark
    connection[disposed] = why
    if (connection.destroy === undefined) void Promise.resolve(connection.end?.()).catch(() => {})
    else connection.destroy()
    giveBack(connection)
  }
  return { lend: () => client.acquireConnection(), giveBack, discard } as unknown as Lender<Connection>
}

/** Knex speaks by callback, also where the session is one of promises. */
function spokenTo(tx: object): object {
  const { connection } = tx as { readonly connection?: object }
  return isCallbacks(connection) ? connection : tx
}

/** The connection of callbacks beneath one of `mysql2/promise`. */
function isCallbacks(connection: object | undefined): connection is object {
  return connection !== undefined && 'addCommand' in connection
}
