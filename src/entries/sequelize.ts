import { follow } from '../adapters/orm/wire.ts'
import { mustHave } from '../adapters/must-have.ts'
import { insidesOf, type SequelizeInstance } from '../adapters/sequelize/instance.ts'
import { readingOf, type ModelLike, type Reading } from '../adapters/sequelize/reading.ts'
import {
  sessionsOf,
  type SequelizeKind,
  type SequelizeSessionOptions,
} from '../adapters/sequelize/sessions.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Receipt } from '../core/receipt.ts'
import type { TableName } from '../core/request.ts'
import type { Row } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { spoken } from '../orm-dialects.ts'
import type { LocksOptions, RowOptionsOf, SharedLocks, TableLocks, TableOf } from '../locks.ts'
import type { RowQuery } from '../locks/rows/query.ts'
import type { LockedRows } from '../locks/rows/rows.ts'
import type { TableOptions } from '../locks/table/options.ts'
import { joinOrm } from '../orm-locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'

export type { SequelizeInstance } from '../adapters/sequelize/instance.ts'
export type { SequelizeSessionOptions } from '../adapters/sequelize/sessions.ts'
export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** The databases that are reached through Sequelize. */
export type SequelizeDialectName = 'postgres' | 'mysql' | 'mariadb'

/** Sequelize's own transaction. */
export type TransactionOf<S extends SequelizeInstance> = S extends {
  transaction(...args: never[]): Promise<infer Tx>
}
  ? Tx
  : never

/** A model of Sequelize's whose instances are of type `M`. */
export interface SequelizeModel<M> {
  new (...args: never[]): M
  readonly rawAttributes: object
}

/** What `findAll` of a model takes. Its instances are reloaded by the same. */
export type FindOf<M> = M extends { reload(options?: infer Find): unknown } ? NonNullable<Find> : never

/** Locks through Sequelize: the work receives Sequelize's own `Transaction`. */
export interface SequelizeLocks<Tx, D extends SequelizeDialectName>
  extends SharedLocks<Tx>, TableLocks<Tx, D> {
  /** Locks rows until the transaction ends, and gives them as they are once they are locked. */
  readonly rows: {
    /** By a model, and by what its `findAll` takes. */
    <M>(tx: Tx, model: SequelizeModel<M>, find: FindOf<M>, options?: RowOptionsOf<D>): Promise<LockedRows<M>>
    <R extends object = Row>(tx: Tx, query: RowQuery, options?: RowOptionsOf<D>): Promise<LockedRows<R>>
  }
  /** Locks a table, by its name or by its model, until the transaction ends. */
  readonly table: (
    tx: Tx,
    table: TableOf<D> | SequelizeModel<unknown>,
    options?: TableOptions,
  ) => Promise<Receipt>
}

/** What `createLocks` may be told of the server and of the driver. */
export interface SequelizeLocksOptions<D extends SequelizeDialectName>
  extends LocksOptions<D>, SequelizeSessionOptions {}

interface Below {
  readonly kind: SequelizeKind
  readonly dialects: readonly Dialect[]
}

/** By Sequelize's own word for a database. */
const reached: Readonly<Record<string, Below>> = {
  postgres: { kind: 'pg', dialects: spoken.postgres },
  mysql: { kind: 'mysql2', dialects: spoken.mysql },
}

/** Why Holdfast has no sessions for what Sequelize uses. */
const refused: Readonly<Record<string, string>> = {
  mariadb: "uses the mariadb connector: give it dialect: 'mysql', which reaches MariaDB through mysql2",
  sqlite: 'uses the package sqlite3, which runs statements of several transactions on one handle',
  mssql: 'uses tedious without a pool that Holdfast knows: use holdfast/mssql beside it',
}

/** Locks on the database that Sequelize reaches through `pg` or `mysql2`. */
export function createLocks<
  S extends SequelizeInstance,
  D extends SequelizeDialectName = SequelizeDialectName,
>(sequelize: S, options?: SequelizeLocksOptions<D>): SequelizeLocks<TransactionOf<S>, D> {
  const told = checkLocksOptions(options, 'prepare', 'pipeline')
  const { kind, dialects } = belowOf(sequelize)
  const sessions = sessionsOf(sequelize, kind, told)
  const insides = insidesOf(sequelize)
  const way = { adapter: 'sequelize', dialects: dialects, sessions, selectOf }
  const locks = joinOrm<D>(way, told)
  const rows = async (tx: object, query: unknown, ...rest: readonly unknown[]): Promise<LockedRows<Row>> => {
    if (!isModel(query)) return locks.rows(tx, query, rest[0] as RowOptionsOf<D> | undefined)
    const [find = {}, lock] = rest as [object?, RowOptionsOf<D>?]
    mustBeFind(find)
    return follow(tx, async () => {
      const reading = await readingOf(insides, { tx, model: query, options: find })
      try {
        return await locks.rows(tx, reading, lock)
      } catch (error) {
        reading.drop(error)
        throw error
      }
    })
  }
  const table = (tx: object, of: unknown, lock?: TableOptions): Promise<Receipt> =>
    locks.table(tx, (isModel(of) ? tableOf(of) : of) as TableOf<D>, lock)
  return { ...locks, rows, table } as unknown as SequelizeLocks<TransactionOf<S>, D>
}

/** As Sequelize has named it. */
function tableOf(model: ModelLike): TableName {
  const table = model.getTableName()
  if (typeof table === 'string') return [table]
  return table.schema === '' ? [table.tableName] : [table.schema, table.tableName]
}

function belowOf(sequelize: SequelizeInstance): Below {
  const pass = 'an instance of Sequelize, as in createLocks(new Sequelize(url))'
  mustHave(sequelize, { field: 'sequelize', methods: ['getDialect', 'transaction'], pass, from: 'sequelize' })
  const dialect = sequelize.getDialect()
  const below = Object.hasOwn(reached, dialect) ? reached[dialect] : undefined
  if (below !== undefined) return below
  const why = Object.hasOwn(refused, dialect) ? refused[dialect] : undefined
  throw new LockUsageError(
    'sequelize',
    `its dialect ${dialect} ${why ?? `is not one of ${Object.keys(reached).join(', ')}`}`,
  )
}

/** Sequelize leaves out what it does not know, and every row would be waited for. */
function mustBeFind(find: object): void {
  const word = ['wait', 'mode', 'strength', 'savepoint', 'exact', 'of'].find((name) => name in find)
  if (word === undefined) return
  throw new LockUsageError(
    word,
    'belongs behind the options of findAll: locks.rows(tx, Model, { where }, { wait })',
  )
}

/** A function that writes a query by hand has no attributes. */
function isModel(query: unknown): query is ModelLike {
  return typeof query === 'function' && 'findAll' in query && 'rawAttributes' in query
}

/** Only what {@link readingOf} has made comes here. */
function selectOf(query: unknown): Reading | undefined {
  return typeof query === 'object' && query !== null && 'drop' in query ? (query as Reading) : undefined
}
