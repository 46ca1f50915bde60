import { mustHave } from '../adapters/must-have.ts'
import { sessionsOf, type TypeormKind, type TypeormSessionOptions } from '../adapters/typeorm/sessions.ts'
import type { TypeormSource } from '../adapters/typeorm/transaction.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Sessions } from '../core/session.ts'
import type { Row } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { LocksOptions, RowOptionsOf, SharedLocks, TableLocks } from '../locks.ts'
import type { RowQuery } from '../locks/rows/query.ts'
import type { LockedRows } from '../locks/rows/rows.ts'
import { spoken } from '../orm-dialects.ts'
import { joinOrm, type OrmSelect } from '../orm-locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { TypeormSessionOptions } from '../adapters/typeorm/sessions.ts'
export type { TypeormSource } from '../adapters/typeorm/transaction.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** The databases that are reached through TypeORM. */
export type TypeormDialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** What is used of a `SelectQueryBuilder` that gives entities of type `R`. */
export interface TypeormSelect<R> {
  getMany(): Promise<R[]>
  getQueryAndParameters(): readonly [string, readonly unknown[]]
}

/** Locks through TypeORM: the work receives an `EntityManager`. */
export interface TypeormLocks<Tx, D extends TypeormDialectName> extends SharedLocks<Tx>, TableLocks<Tx, D> {
  /** Locks the rows of a SELECT until the transaction ends, and gives them as they are once they are locked. */
  readonly rows: {
    <R>(tx: Tx, query: TypeormSelect<R>, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
    <R extends object = Row>(tx: Tx, query: RowQuery, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
  }
}

/** What `createLocks` may be told of the server and of the driver. */
export interface TypeormLocksOptions<D extends TypeormDialectName>
  extends LocksOptions<D>, TypeormSessionOptions {}

interface Below {
  readonly kind: TypeormKind
  readonly dialects: readonly Dialect[]
}

const overMysql2: Below = { kind: 'mysql2', dialects: spoken.mysql }

/** By the `type` of a data source. */
const types: Readonly<Record<string, Below>> = {
  postgres: { kind: 'pg', dialects: spoken.postgres },
  mysql: overMysql2,
  mariadb: overMysql2,
  'better-sqlite3': { kind: 'better-sqlite3', dialects: spoken.sqlite },
}

/** Locks on the database that a `DataSource` reaches through `pg`, `mysql2` or `better-sqlite3`. */
export function createLocks<Source extends TypeormSource, D extends TypeormDialectName = TypeormDialectName>(
  dataSource: Source,
  options?: TypeormLocksOptions<D>,
): TypeormLocks<Source['manager'], D> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline', 'open')
  const { dialects, sessions } = typeormWay(dataSource, told)
  const way = { adapter: 'typeorm', dialects: dialects, sessions, selectOf }
  return joinOrm(way, told) as TypeormLocks<Source['manager'], D>
}

/** What is below a data source, and how its transactions are had. */
function typeormWay(
  dataSource: TypeormSource,
  options?: TypeormSessionOptions,
): { readonly dialects: readonly Dialect[]; readonly sessions: Sessions<object> } {
  const pass = 'a data source, as in createLocks(await new DataSource(options).initialize())'
  mustHave(dataSource, { field: 'dataSource', methods: ['createQueryRunner'], pass, from: 'typeorm' })
  const type = String((dataSource as Partial<TypeormSource>).options?.type)
  const below = Object.hasOwn(types, type) ? types[type] : undefined
  if (below === undefined)
    throw new LockUsageError('dataSource', `its type ${type} is not one of ${Object.keys(types).join(', ')}`)
  return { dialects: below.dialects, sessions: sessionsOf(dataSource, below.kind, options) }
}

function selectOf(query: unknown): OrmSelect | undefined {
  if (typeof query !== 'object' || query === null || !('getMany' in query)) return undefined
  const select = query as TypeormSelect<Row>
  const [sql, params] = select.getQueryAndParameters()
  return { sql, params, run: () => select.getMany() }
}
