import { traits as file } from '../adapters/better-sqlite3/sessions.ts'
import type { KyselyInstance } from '../adapters/kysely/connection.ts'
import { queuesOf, type KyselyQueue } from '../adapters/kysely/queue.ts'
import { lockPlugin } from '../adapters/kysely/plugin.ts'
import {
  compileFor,
  withLockWords,
  type CompiledSelect,
  type KyselyCompiler,
  type KyselySelect,
} from '../adapters/kysely/rows.ts'
import { sessions, type DriverTraits, type TransactionOf } from '../adapters/kysely/sessions.ts'
import { traits as mysql2 } from '../adapters/mysql2/sessions.ts'
import { traits as pg } from '../adapters/pg/traits.ts'
import { traits as tedious } from '../adapters/mssql/tedious-traits.ts'
import { LockUsageError } from '../core/errors.ts'
import type { Plan } from '../core/plan.ts'
import { isUnsupported, unsupported } from '../core/support.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { mariadb } from '../dialects/mariadb/index.ts'
import { mssql } from '../dialects/mssql/index.ts'
import { mysql } from '../dialects/mysql/index.ts'
import { postgres } from '../dialects/postgres/index.ts'
import { sqlite } from '../dialects/sqlite/index.ts'
import { meet, type RowOptionsOf, type SharedLocks, type TableLocks } from '../locks.ts'
import type { OpenTransaction } from '../locks/port.ts'
import type { LockedRows, RowOptions } from '../locks/rows/rows.ts'
import { queue } from '../locks/queue/queue.ts'

export {
  sessions,
  type DriverTraits,
  type KyselyInstance,
  type TransactionOf,
} from '../adapters/kysely/sessions.ts'
export { lockPlugin, type LockPlugin, type LockPluginOptions } from '../adapters/kysely/plugin.ts'
export type { KyselyQueue, KyselyQueueDefinition } from '../adapters/kysely/queue.ts'
export type { KyselySelect } from '../adapters/kysely/rows.ts'
export { withTxRetry } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/**
 * Describes queues in the tables of a schema, whose columns it knows: `const queue = kyselyQueue<Database>()`, and then
 * `queue({ table: 'job', ... })`. Two calls, because TypeScript cannot be told one type and find out the other.
 */
export function kyselyQueue<DB>(...given: readonly []): KyselyQueue<DB> {
  if (given.length > 0)
    throw new LockUsageError(
      'kyselyQueue',
      'takes nothing: pass the table to what it gives, as in kyselyQueue<Database>()({ table })',
    )
  return queuesOf<DB>(queue)
}

/** The databases that are reached through Kysely. */
export type KyselyDialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite' | 'mssql'

/** The drivers that Kysely's own dialects sit on. */
const drivers: Readonly<Record<KyselyDialectName, DriverTraits>> = {
  postgres: pg,
  mysql: mysql2,
  mariadb: mysql2,
  sqlite: file,
  mssql: tedious,
}

/** The dialects as they are when Kysely sends their statements. */
const dialects: Readonly<Record<KyselyDialectName, Dialect>> = {
  postgres,
  mysql,
  mariadb,
  sqlite,
  mssql: withoutSettings(mssql),
}

const untimedTable = unsupported(
  "Kysely's driver sends each statement in a procedure, with which a lock timeout ends, and NOWAIT is one for a table",
  'leave wait out, or use holdfast/mssql',
)

/** A setting of the session cannot be changed by a driver that wraps each statement in a procedure. */
function withoutSettings(dialect: Dialect): Dialect {
  const refusal = unsupported(
    "Kysely's driver sends each statement in a procedure, with which a lock timeout ends",
    "use 'nowait', or holdfast/mssql",
  )
  const { table } = dialect.cells
  const untimed: typeof table = isUnsupported(table)
    ? table
    : (request, version) => {
        const plan = table(request, version)
        return isUnsupported(plan) || plan.setting === undefined ? plan : untimedTable
      }
  return {
    ...dialect,
    cells: { ...dialect.cells, 'lock-timeout': refusal, table: untimed },
    transaction: { ...dialect.transaction, lockTimeout: () => refusal },
  }
}

/** What `createLocks` has to be told of the server. */
export interface KyselyLocksOptions<D extends KyselyDialectName> {
  /** Kysely does not tell which database it speaks to, and MySQL and MariaDB share one of its dialects. */
  readonly dialect: D
  /** As the server spells it. @default asked of the server once */
  readonly version?: string
}

/** Locks through Kysely: the work receives Kysely's own transaction, on which `forUpdate()` and the like are portable. */
export interface KyselyLocks<Trx, D extends KyselyDialectName> extends SharedLocks<Trx>, TableLocks<Trx, D> {
  /**
   * Locks the rows of a SELECT until the transaction ends, and gives them as they are once they are locked. The query is one
   * that `selectFrom` has built: there is no `{ table, key }` here.
   */
  readonly rows: <O>(tx: Trx, query: KyselySelect<O>, options?: RowOptionsOf<D>) => Promise<LockedRows<O>>
}

/** Locks on the database that a Kysely instance reaches. The work receives Kysely's own transaction. */
export function createLocks<Db extends KyselyInstance, D extends KyselyDialectName>(
  db: Db,
  options: KyselyLocksOptions<D>,
): KyselyLocks<TransactionOf<Db>, D> {
  const driver = driverOf(checkLocksOptions(options).dialect)
  const dialect = dialects[options.dialect]
  // The plan of a lock call goes to the plugin beside the query: Kysely has no word for a timeout.
  let told: Plan | undefined
  const plugin = lockPlugin({
    planFor: (request) => told ?? meeting.planRows(openOr(meeting.current()), request),
    requireTransaction: (plan) => checkAccess(plan, openOr(meeting.current())),
  })
  const meeting = meet(sessions(db, { driver, plugin }), [], { ...options, dialect })
  mustBeOf(db, options.dialect)
  const readOf = <O>(
    tx: KyselyCompiler,
    query: KyselySelect<O>,
    { plan, lock }: TimedLock,
  ): CompiledSelect => {
    // the setting is changed around the query, by whoever runs it
    const { setting: _, ...bare } = plan
    told = bare
    try {
      return compileFor(tx, plugin.transformQuery({ node: withLockWords(query, lock).toOperationNode() }))
    } finally {
      told = undefined
    }
  }
  return {
    ...meeting.shared,
    table: meeting.lockTable,
    rows: async <O>(tx: TransactionOf<Db>, query: KyselySelect<O>, lock: RowOptionsOf<D> = {}) => {
      const rows = await meeting.lockRows(tx, {
        target: undefined,
        options: lock,
        readOf: (plan) => readOf(tx as KyselyCompiler, query, { plan, lock }),
      })
      return rows as unknown as LockedRows<O>
    },
  }
}

interface TimedLock {
  readonly plan: Plan
  readonly lock: RowOptions
}

function driverOf(dialect: KyselyDialectName | undefined): DriverTraits {
  if (dialect !== undefined && Object.hasOwn(drivers, dialect)) return drivers[dialect]
  const names = Object.keys(drivers).join(', ')
  throw new LockUsageError(
    'dialect',
    dialect === undefined
      ? `is missing: pass one of ${names}, as in createLocks(db, { dialect: 'postgres' })`
      : `${dialect as string} is not one of ${names}`,
  )
}

/** What Kysely's own adapters are for, by the names of their classes. Those of others are not known. */
const adapters: Readonly<Record<string, readonly KyselyDialectName[]>> = {
  PostgresAdapter: ['postgres'],
  MysqlAdapter: ['mysql', 'mariadb'],
  SqliteAdapter: ['sqlite'],
  MssqlAdapter: ['mssql'],
}

/** Another database would refuse the statements of this dialect, each in its own words. */
function mustBeOf(db: KyselyInstance, dialect: KyselyDialectName): void {
  const { adapter } = db.getExecutor() as { readonly adapter?: object }
  const name = adapter?.constructor.name ?? ''
  const reached = Object.hasOwn(adapters, name) ? adapters[name] : undefined
  if (reached === undefined || reached.includes(dialect)) return
  throw new LockUsageError(
    'dialect',
    `${dialect} was named, and this instance of Kysely has a ${name}: pass ${reached.join(' or ')}`,
  )
}

function checkAccess({ begin }: Plan, { access }: OpenTransaction<unknown>): void {
  if (begin === undefined || access === 'read-write') return
  throw new LockUsageError('access', 'a transaction that only reads cannot lock rows on this database')
}

function openOr<Trx>(open: OpenTransaction<Trx> | undefined): OpenTransaction<Trx> {
  if (open !== undefined) return open
  throw new LockUsageError('tx', 'a lock lasts as long as a transaction: take it inside of locks.transaction')
}
