import { mustBeClean, type EntityMeta, type Manager } from '../adapters/mikro-orm/manager.ts'
import {
  sessionsOf,
  type MikroOrmInstance,
  type MikroOrmSessionOptions,
} from '../adapters/mikro-orm/sessions.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Receipt } from '../core/receipt.ts'
import type { TableName } from '../core/request.ts'
import type { Row } from '../core/statement.ts'
import { postgres } from '../dialects/postgres/index.ts'
import type { LocksOptions, RowOptionsOf, SharedLocks, TableLocks } from '../locks.ts'
import type { RowQuery } from '../locks/rows/query.ts'
import type { LockedRows } from '../locks/rows/rows.ts'
import type { TableOptions } from '../locks/table/options.ts'
import { joinOrm, type OrmSelect } from '../orm-locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type {
  MikroOrmInstance,
  MikroOrmManager,
  MikroOrmSessionOptions,
} from '../adapters/mikro-orm/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** A class of entities, or a schema of one. */
export type MikroOrmEntity<E> = (abstract new (...args: never[]) => E) | { readonly '~entity': E }

/** What is used of a `QueryBuilder` that gives entities of type `E`. */
export interface MikroOrmSelect<E> {
  getResultList(): Promise<E[]>
  getFormattedQuery(): string
}

/** Locks through MikroORM: the work receives an `EntityManager` of its own, which is flushed before COMMIT. */
export interface MikroOrmLocks<Em> extends SharedLocks<Em>, TableLocks<Em, 'postgres'> {
  /** Locks the rows until the transaction ends, and gives them as entities, as they are once they are locked. */
  readonly rows: {
    <E extends object>(
      tx: Em,
      entity: MikroOrmEntity<E>,
      where: object,
      options?: RowOptionsOf<'postgres'>,
    ): Promise<LockedRows<E>>
    <E>(tx: Em, query: MikroOrmSelect<E>, options?: RowOptionsOf<'postgres'>): Promise<LockedRows<E>>
    <R extends object = Row>(
      tx: Em,
      query: RowQuery,
      options?: RowOptionsOf<'postgres'>,
    ): Promise<LockedRows<R>>
  }
  /** Locks a table, by its name or by its entity, until the transaction ends. */
  readonly table: (
    tx: Em,
    table: TableName | MikroOrmEntity<object>,
    options?: TableOptions,
  ) => Promise<Receipt>
}

/** What `createLocks` may be told of the server and of the driver. */
export interface MikroOrmLocksOptions extends LocksOptions<'postgres'>, MikroOrmSessionOptions {}

/** Locks on the PostgreSQL server that MikroORM reaches. */
export function createLocks<O extends MikroOrmInstance>(
  orm: O,
  options?: MikroOrmLocksOptions,
): MikroOrmLocks<O['em']> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline')
  const way = {
    adapter: 'mikro-orm',
    dialects: [postgres],
    sessions: sessionsOf(orm, told),
    selectOf,
  }
  const locks = joinOrm(way, told)
  const rows = async (tx: object, query: unknown, ...rest: readonly unknown[]): Promise<LockedRows<Row>> => {
    if (isSelect(query) || isRowQuery(query)) return locks.rows(tx, query, rest[0] as object | undefined)
    const em = tx as Manager
    if (typeof em.createQueryBuilder !== 'function') throw new LockUsageError('tx', 'is no EntityManager')
    const [where = {}, lock] = rest
    return locks.rows(tx, em.createQueryBuilder(query).where(where), lock as object | undefined)
  }
  const table = async (tx: object, of: unknown, lock?: TableOptions): Promise<Receipt> =>
    locks.table(tx, isName(of) ? of : tableOf(tx as Manager, of), lock)
  return { ...locks, rows, table } as unknown as MikroOrmLocks<O['em']>
}

function isName(of: unknown): of is TableName {
  return typeof of === 'string' || Array.isArray(of)
}

/** As MikroORM has named it. */
function tableOf(em: Manager, entity: unknown): TableName {
  if (typeof em.getMetadata !== 'function') throw new LockUsageError('tx', 'is no EntityManager')
  const { schema, tableName } = em.getMetadata(entity)
  return schema === undefined ? [tableName] : [schema, tableName]
}

function isSelect(query: unknown): query is MikroOrmSelect<Row> & MikroOrmBuilder {
  return typeof query === 'object' && query !== null && 'getResultList' in query
}

/** All that cannot be an entity, which is a class, or an instance of a schema. */
function isRowQuery(query: unknown): query is RowQuery {
  if (typeof query === 'function') return !('prototype' in query)
  if (typeof query !== 'object' || query === null) return true
  const prototype: unknown = Object.getPrototypeOf(query)
  return prototype === null || prototype === Object.prototype || Array.isArray(query) || 'then' in query
}

/** What is used besides. */
interface MikroOrmBuilder {
  readonly em?: Manager
  readonly mainAlias?: { readonly meta?: EntityMeta }
  setFlushMode(mode: 'commit'): unknown
}

function selectOf(query: unknown): OrmSelect | undefined {
  if (!isSelect(query)) return undefined
  // what is not stored yet must not be stored by the SELECT that locks, before anything is locked
  query.setFlushMode('commit')
  const { em, mainAlias } = query
  if (em !== undefined && mainAlias?.meta !== undefined) mustBeClean(em, mainAlias.meta)
  return { sql: query.getFormattedQuery(), params: [], run: () => query.getResultList() }
}
