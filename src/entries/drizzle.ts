import {
  wayOf,
  type DrizzleDatabase,
  type DrizzleKind,
  type DrizzleSessionOptions,
  type TransactionOf,
} from '../adapters/drizzle/sessions.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Row } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { LocksOptions, RowOptionsOf, SharedLocks, TableLocks } from '../locks.ts'
import type { RowQuery } from '../locks/rows/query.ts'
import type { LockedRows } from '../locks/rows/rows.ts'
import { spoken } from '../orm-dialects.ts'
import { joinOrm, type OrmSelect } from '../orm-locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { DrizzleDatabase, DrizzleSessionOptions, TransactionOf } from '../adapters/drizzle/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** The databases that are reached through Drizzle. */
export type DrizzleDialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** The databases that a driver below Drizzle reaches. */
const dialects: Readonly<Record<DrizzleKind, readonly Dialect[]>> = {
  NodePgSession: spoken.postgres,
  MySql2Session: spoken.mysql,
  BetterSQLiteSession: spoken.sqlite,
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
export interface DrizzleLocks<Tx, D extends DrizzleDialectName> extends SharedLocks<Tx>, TableLocks<Tx, D> {
  /** Locks the rows of a SELECT until the transaction ends, and gives them as they are once they are locked. */
  readonly rows: {
    <R>(tx: Tx, query: DrizzleSelect<R>, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
    <R extends object = Row>(tx: Tx, query: RowQuery, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
  }
}

/** What `createLocks` may be told of the server and of the driver. */
export interface DrizzleLocksOptions<D extends DrizzleDialectName>
  extends LocksOptions<D>, DrizzleSessionOptions {}

/** Locks on the database that a Drizzle instance reaches through `pg`, `mysql2` or `better-sqlite3`. */
export function createLocks<Db extends DrizzleDatabase, D extends DrizzleDialectOf<Db['$client']>>(
  db: Db,
  options?: DrizzleLocksOptions<D>,
): DrizzleLocks<TransactionOf<Db>, D> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline', 'open')
  const { kind, sessions } = wayOf(db, told)
  const way = { adapter: 'drizzle', dialects: dialects[kind], sessions, selectOf: selectsOf(kind) }
  return joinOrm(way, told) as unknown as DrizzleLocks<TransactionOf<Db>, D>
}

/** A SELECT as Drizzle keeps it prepared on `pg`. */
interface Compiled {
  getQuery(): ReturnType<DrizzleSelect<Row>['toSQL']>
  execute(): PromiseLike<unknown>
}

function selectsOf(kind: DrizzleKind): (query: unknown) => OrmSelect | undefined {
  const read = kind === 'NodePgSession' ? readCompiled : readText
  return (query) => {
    if (typeof query !== 'object' || query === null || !('toSQL' in query) || !('then' in query))
      return undefined
    if (givesOne(query)) throw noList()
    if (hasRelations(query)) throw withRelations()
    return read(query as DrizzleSelect<Row>)
  }
}

/** Behind `toSQL`, Drizzle would compile it a second time to send it. */
function readCompiled(select: DrizzleSelect<Row> & { prepare?(): Compiled }): OrmSelect {
  // without a name the server keeps nothing
  const compiled = select.prepare?.()
  if (compiled === undefined) return readText(select)
  const { sql, params } = compiled.getQuery()
  return { sql, params, run: () => listOf(compiled.execute()) }
}

function readText(select: DrizzleSelect<Row>): OrmSelect {
  return { ...select.toSQL(), run: () => listOf(select) }
}

async function listOf(answer: PromiseLike<unknown>): Promise<readonly Row[]> {
  const rows = await answer
  if (!Array.isArray(rows)) throw noList()
  return rows as readonly Row[]
}

/** As Drizzle notes it in a relational query, which is in its typings nowhere. */
function givesOne(query: object): boolean {
  const { mode, queryMode } = query as { readonly mode?: unknown; readonly queryMode?: unknown }
  return mode === 'first' || queryMode === 'first'
}

/** Where they stand in the text depends on the mode, and their rows are locked in none. */
function hasRelations(query: object): boolean {
  const { config } = query as { readonly config?: { readonly with?: object } }
  return Object.values(config?.with ?? {}).some(Boolean)
}

function withRelations(): LockUsageError {
  return new LockUsageError(
    'query',
    'the rows of its relations are read by subqueries, which lock nothing: leave out with, and lock them in a separate query',
  )
}

function noList(): LockUsageError {
  return new LockUsageError(
    'query',
    'does not give a list of rows, as findFirst: use findMany with a limit, or tx.select()',
  )
}
