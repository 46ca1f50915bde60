import { wayOf, type KnexKind, type KnexSessionOptions } from '../adapters/knex/sessions.ts'
import type { KnexInstance } from '../adapters/knex/transaction.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Row } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { LocksOptions, RowOptionsOf, SharedLocks, TableLocks } from '../locks.ts'
import type { RowQuery } from '../locks/rows/query.ts'
import type { LockedRows } from '../locks/rows/rows.ts'
import { spoken } from '../orm-dialects.ts'
import { joinOrm, type OrmSelect } from '../orm-locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { KnexSessionOptions } from '../adapters/knex/sessions.ts'
export type { KnexInstance } from '../adapters/knex/transaction.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** The databases that are reached through Knex. */
export type KnexDialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** Knex's own transaction of an instance. */
export type TransactionOf<K extends KnexInstance> = K extends {
  transaction(scope: (trx: infer Tx) => Promise<never>, ...rest: never[]): unknown
}
  ? Tx
  : never

/** What is used of a SELECT of Knex's that gives rows of type `R`. */
export interface KnexSelect<R> extends PromiseLike<R[]> {
  toSQL(): {
    readonly method: string
    toNative(): { readonly sql: string; readonly bindings: readonly unknown[] }
  }
}

/** Locks through Knex: the work receives Knex's own transaction. */
export interface KnexLocks<Tx, D extends KnexDialectName> extends SharedLocks<Tx>, TableLocks<Tx, D> {
  /** Locks the rows of a SELECT until the transaction ends, and gives them as they are once they are locked. */
  readonly rows: {
    <R>(tx: Tx, query: KnexSelect<R>, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
    <R extends object = Row>(tx: Tx, query: RowQuery, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
  }
}

/** What `createLocks` may be told of the server and of the driver. */
export interface KnexLocksOptions<D extends KnexDialectName> extends LocksOptions<D>, KnexSessionOptions {}

/** The databases that a driver below Knex reaches. */
const dialects: Readonly<Record<KnexKind, readonly Dialect[]>> = {
  pg: spoken.postgres,
  mysql2: spoken.mysql,
  'better-sqlite3': spoken.sqlite,
}

/** Locks on the database that Knex reaches through `pg`, `mysql2` or `better-sqlite3`. */
export function createLocks<K extends KnexInstance, D extends KnexDialectName = KnexDialectName>(
  knex: K,
  options?: KnexLocksOptions<D>,
): KnexLocks<TransactionOf<K>, D> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline')
  const { kind, sessions } = wayOf(knex, told)
  const way = { adapter: 'knex', dialects: dialects[kind], sessions, selectOf }
  return joinOrm(way, told) as unknown as KnexLocks<TransactionOf<K>, D>
}

/** A builder of Knex's is an object, and a transaction or an instance of Knex is a function. */
function selectOf(query: unknown): OrmSelect | undefined {
  if (typeof query !== 'object' || query === null || !('toSQL' in query) || !('then' in query))
    return undefined
  const select = query as KnexSelect<Row>
  const compiled = select.toSQL()
  if (compiled.method === 'first' || compiled.method === 'raw') throw noList(compiled.method)
  const { sql, bindings } = compiled.toNative()
  const run = async (): Promise<readonly Row[]> => {
    const rows: unknown = await select
    // what the application makes of Knex's answers is its own affair
    if (!Array.isArray(rows)) throw noList('postProcessResponse')
    return rows as readonly Row[]
  }
  return { sql, params: bindings, run }
}

function noList(what: string): LockUsageError {
  return new LockUsageError(
    'query',
    `does not give a list of rows, because of ${what}: use a SELECT of Knex's, with limit(1) for one row`,
  )
}
