import {
  wayOf,
  type DrizzleDatabase,
  type DrizzleKind,
  type DrizzleSessionOptions,
  type TransactionOf,
} from '../adapters/drizzle/sessions.ts'
import { sendReworded } from '../adapters/orm/rewording.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Plan } from '../core/plan.ts'
import type { Row, SqlStatement, Value } from '../core/statement.ts'
import { meet, type LocksOptions, type RowOptionsOf, type SharedLocks } from '../locks.ts'
import { isTarget, lockingRead, type RowQuery } from '../locks/rows/query.ts'
import type { LockedRows, LockingRead } from '../locks/rows/rows.ts'

export type { DrizzleDatabase, DrizzleSessionOptions, TransactionOf } from '../adapters/drizzle/sessions.ts'
export { withTxRetry, type RowOptionsOf, type WaitOf } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type { Retry, TransactionOptions } from '../locks/transaction/options.ts'
export type { LockPlaces, RowQuery, SqlQuery } from '../locks/rows/query.ts'
export type { LockedRows, RowOptions } from '../locks/rows/rows.ts'

/** The databases that a driver below Drizzle reaches. */
const dialects: Readonly<Record<DrizzleKind, readonly ('postgres' | 'mysql' | 'mariadb' | 'sqlite')[]>> = {
  NodePgSession: ['postgres'],
  MySql2Session: ['mysql', 'mariadb'],
  BetterSQLiteSession: ['sqlite'],
}

/** The databases that a client of a driver can reach. */
export type DrizzleDialectOf<Client> = Client extends { getConnection: unknown }
  ? 'mysql' | 'mariadb'
  : Client extends { prepare: unknown }
    ? 'sqlite'
    : 'postgres'

/** What is used of a SELECT of Drizzle's that gives rows of type `R`. */
export interface DrizzleSelect<R> extends PromiseLike<R[]> {
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] }
}

/** Locks through Drizzle: the work receives Drizzle's own transaction. */
export interface DrizzleLocks<
  Tx,
  D extends 'postgres' | 'mysql' | 'mariadb' | 'sqlite',
> extends SharedLocks<Tx> {
  /** Locks the rows of a SELECT until the transaction ends, and gives them as they are once they are locked. */
  readonly rows: {
    <R>(tx: Tx, query: DrizzleSelect<R>, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
    <R extends object = Row>(tx: Tx, query: RowQuery, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
  }
}

export interface DrizzleLocksOptions<D extends 'postgres' | 'mysql' | 'mariadb' | 'sqlite'>
  extends LocksOptions<D>, DrizzleSessionOptions {}

/** Locks on the database that a Drizzle instance reaches through `pg`, `mysql2` or `better-sqlite3`. */
export function createLocks<Db extends DrizzleDatabase, D extends DrizzleDialectOf<Db['$client']>>(
  db: Db,
  options?: DrizzleLocksOptions<D>,
): DrizzleLocks<TransactionOf<Db>, D> {
  const { kind, sessions } = wayOf(db, options)
  const meeting = meet(sessions, dialects[kind] as readonly D[], options)
  const rows = async (
    tx: object,
    query: RowQuery | DrizzleSelect<Row>,
    lock: RowOptionsOf<D> = {},
  ): Promise<LockedRows<Row>> =>
    meeting.lockRows(tx, {
      target: isTarget(query) ? query : undefined,
      options: lock,
      readOf: (plan) => (isSelect(query) ? readOf(query, plan) : lockingRead(query, plan)),
    })
  return { ...meeting.shared, rows } as unknown as DrizzleLocks<TransactionOf<Db>, D>
}

function isSelect(query: unknown): query is DrizzleSelect<Row> {
  return typeof query === 'object' && query !== null && 'toSQL' in query && 'then' in query
}

/** Sent by Drizzle, which knows how to make its rows of what the driver gives. */
function readOf(query: DrizzleSelect<Row>, plan: Plan): LockingRead {
  if (givesOne(query)) throw noList()
  const { sql, params } = query.toSQL()
  const read = lockingRead({ sql, params: params as readonly Value[] }, plan)
  const { sql: to } = read.statement as SqlStatement
  const run = async (): Promise<readonly Row[]> => {
    const rows: unknown = await sendReworded({ from: sql, to }, () => query)
    if (!Array.isArray(rows)) throw noList()
    return rows as readonly Row[]
  }
  return { ...read, run }
}

/** As Drizzle notes it in a relational query, which is in its typings nowhere. */
function givesOne(query: object): boolean {
  const { mode, queryMode } = query as { readonly mode?: unknown; readonly queryMode?: unknown }
  return mode === 'first' || queryMode === 'first'
}

function noList(): LockUsageError {
  return new LockUsageError(
    'query',
    'does not give a list of rows, as findFirst: use findMany with a limit, or tx.select()',
  )
}
