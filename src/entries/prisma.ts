import { mustHave } from '../adapters/must-have.ts'
import type { PrismaClientLike } from '../adapters/prisma/client.ts'
import type { PrismaAdapter } from '../adapters/prisma/driver-adapter.ts'
import type { KnownAdapter, Lockable } from '../adapters/prisma/lockable.ts'
import { follow } from '../adapters/orm/wire.ts'
import { notedQuery } from '../adapters/prisma/queries.ts'
import { readingOf, type Reading } from '../adapters/prisma/reading.ts'
import { sessions } from '../adapters/prisma/sessions.ts'
import { connectionOf } from '../adapters/prisma/transaction.ts'
import type { PgSessionOptions } from '../adapters/pg/sessions.ts'
import { originOf } from '../core/derived.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Row } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { LocksOptions, RowOptionsOf, SharedLocks, TableLocks } from '../locks.ts'
import type { RowQuery } from '../locks/rows/query.ts'
import type { LockedRows } from '../locks/rows/rows.ts'
import { spoken } from '../orm-dialects.ts'
import { joinOrm } from '../orm-locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { PrismaClientLike } from '../adapters/prisma/client.ts'
export type { PrismaAdapter } from '../adapters/prisma/driver-adapter.ts'
export { lockable, type KnownAdapter, type Lockable } from '../adapters/prisma/lockable.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** The databases that are reached through Prisma. */
export type PrismaDialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** The databases that the driver adapters reach. */
const dialects: Readonly<Record<KnownAdapter, readonly Dialect[]>> = {
  '@prisma/adapter-pg': spoken.postgres,
  '@prisma/adapter-mariadb': spoken.mysql,
  '@prisma/adapter-better-sqlite3': spoken.sqlite,
}

/** The databases that a driver adapter reaches. */
export type PrismaDialectOf<Adapter extends PrismaAdapter> = Adapter['provider'] extends 'sqlite'
  ? 'sqlite'
  : Adapter['provider'] extends 'mysql'
    ? 'mysql' | 'mariadb'
    : 'postgres'

/** Prisma's own client of a transaction. */
export type TransactionOf<Client extends PrismaClientLike> = Client['$transaction'] extends (
  work: (tx: infer Tx) => never,
  ...rest: never[]
) => unknown
  ? Tx & object
  : never

/** What is used of a model of Prisma's. */
interface ModelLike {
  findMany(args?: never): PromiseLike<readonly unknown[]>
}

/** The models of a client, by the names that they have there. */
export type ModelOf<Tx> = { [Name in keyof Tx]: Tx[Name] extends ModelLike ? Name : never }[keyof Tx] & string

/** A row of a model, with all of its fields. */
export type RowOf<Tx, Name extends ModelOf<Tx>> = Tx[Name] extends {
  findMany(args?: never): PromiseLike<readonly (infer R)[]>
}
  ? R
  : never

/** Which rows of a model. What they are made of is the model's own matter here. */
export type RowsOf<Tx, Name extends ModelOf<Tx>> = Tx[Name] extends { findMany(args?: infer Args): unknown }
  ? Omit<NonNullable<Args>, 'select' | 'include' | 'omit'>
  : never

/** Locks through Prisma: the work receives Prisma's own client of a transaction. */
export interface PrismaLocks<Tx, D extends PrismaDialectName> extends SharedLocks<Tx>, TableLocks<Tx, D> {
  /** Locks rows until the transaction ends, and gives them as Prisma does, as they are once they are locked. */
  readonly rows: {
    <Name extends ModelOf<Tx>>(
      tx: Tx,
      model: Name,
      which: RowsOf<Tx, Name>,
      options?: RowOptionsOf<D>,
    ): Promise<LockedRows<RowOf<Tx, Name>>>
    /** By a query that is not awaited: `tx.account.findMany(...)`, with `select` and all. */
    <R>(tx: Tx, query: PromiseLike<readonly R[]>, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
    <R extends object = Row>(tx: Tx, query: RowQuery, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
  }
}

/** What `createLocks` may be told of the server. */
export interface PrismaLocksOptions<D extends PrismaDialectName> extends LocksOptions<D>, PgSessionOptions {}

/** Locks on the database that a Prisma client reaches through the driver adapter `held.adapter`. */
export function createLocks<
  Client extends PrismaClientLike,
  Adapter extends PrismaAdapter,
  D extends PrismaDialectOf<Adapter>,
>(
  client: Client,
  held: Lockable<Adapter>,
  options?: PrismaLocksOptions<D>,
): PrismaLocks<TransactionOf<Client>, D> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline')
  const pass = 'what lockable gives for its adapter, as in createLocks(prisma, held)'
  mustHave(held, { field: 'held', methods: ['connected', 'connect'], pass })
  const way = {
    adapter: 'prisma',
    dialects: dialects[held.name],
    sessions: sessions(client, held, told),
    selectOf,
  }
  const locks = joinOrm<D>(way, told)
  const rows = async (tx: object, query: unknown, ...rest: readonly unknown[]): Promise<LockedRows<Row>> => {
    if (typeof query === 'string' && isModel(tx, query)) {
      const [which, lock] = rest
      return rows(tx, modelOf(tx, query).findMany(which as never), lock)
    }
    const [lock = {}] = rest as [RowOptionsOf<D>?]
    if (!isThenable(query)) return locks.rows(tx, query, lock)
    return follow(tx, async () => {
      const reading = await readingIn(client, tx, query)
      try {
        return await locks.rows(tx, reading, lock)
      } catch (error) {
        reading.drop(error)
        throw error
      }
    })
  }
  return { ...locks, rows } as unknown as PrismaLocks<TransactionOf<Client>, D>
}

async function readingIn(client: object, tx: object, query: object): Promise<Reading> {
  const noted = notedQuery(query)
  const connection = connectionOf(tx)
  if (noted === undefined || connection === undefined || originOf(noted.tx) !== originOf(tx))
    throw new LockUsageError(
      'query',
      'was not made with this tx by findMany or $queryRaw, or is awaited before: nothing is locked',
    )
  return readingOf(client, connection, noted.ask)
}

/** Only what {@link readingIn} has made comes here. */
function selectOf(query: unknown): Reading | undefined {
  return typeof query === 'object' && query !== null && 'drop' in query ? (query as Reading) : undefined
}

function isThenable(query: unknown): query is PromiseLike<unknown> & object {
  return typeof query === 'object' && query !== null && 'then' in query
}

function modelOf(tx: object, name: string): ModelLike {
  return (tx as Readonly<Record<string, ModelLike>>)[name] as ModelLike
}

function isModel(tx: object, name: string): boolean {
  const model: unknown = (tx as Readonly<Record<string, unknown>>)[name]
  return typeof model === 'object' && model !== null && 'findMany' in model
}
