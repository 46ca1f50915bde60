import type { Category } from './category.ts'
import type { LockMode, Wait } from './request.ts'
import type { SqlStatement, Statement } from './statement.ts'
import type { Supported } from './support.ts'

/**
 * All that has to happen around one lock, in the order in which it happens:
 *
 * `needs` are made sure of, `beforeBegin` runs, the transaction begins with `begin` or by `atOnce`, `inTransaction` runs, the query
 * is changed or preceded as `query` says, the work is done, the transaction ends, `afterEnd` runs. A `setting` is
 * applied right before the statement that takes the lock and restored right after it.
 *
 * It is data: the same plan is shown by `explain`, compared in tests, and carried out by the lock algorithms.
 */
export interface Plan {
  readonly dialect: string
  readonly category: Category
  readonly support: Supported
  /** What is really granted; `exclusive` although `shared` was asked where the engine knows no sharing. */
  readonly mode: LockMode
  readonly scope: 'transaction' | 'session'
  readonly waiting: Waiting
  readonly setting?: SettingChange
  /** Tables and rows that must exist, each made outside of the transaction and harmless when repeated. */
  readonly needs: readonly Statement[]
  readonly beforeBegin: readonly Statement[]
  /** The word that BEGIN needs for the transaction itself to be the lock. */
  readonly begin?: string
  /** What begins the transaction in place of BEGIN, which would give the lock up. */
  readonly atOnce?: TablesAtOnce
  readonly inTransaction: readonly Statement[]
  readonly query?: QueryLock
  readonly afterEnd: readonly Statement[]
}

/** What an emitter writes: a plan without what is the same for all of a dialect's plans. */
export type PlanDraft = Pick<Plan, 'support' | 'waiting'> & Partial<Omit<Plan, 'dialect' | 'category'>>

/**
 * Who waits while another holds the lock, and for how long.
 *
 * `server`: the engine queues us. `statement`: the engine refuses at once and the lock statement is repeated.
 * `transaction`: a conflict ends the transaction, which is repeated. `nobody`: a held lock is reported or skipped.
 */
export interface Waiting {
  readonly by: 'server' | 'statement' | 'transaction' | 'nobody'
  /** Absent: until the lock is free. */
  readonly timeoutMs?: number
  /** The shortest wait that the engine has, for somebody who asked for none: its end is a refusal, and no timeout. */
  readonly isRefusal?: boolean
}

/** The usual reading of a request: `by` waits for as long as was asked, or nobody does. */
export function waitingBy(by: 'server' | 'statement' | 'transaction', wait: Wait): Waiting {
  if (wait === 'block') return { by }
  return typeof wait === 'object' ? { by, timeoutMs: wait.timeoutMs } : { by: 'nobody' }
}

/** A setting of the session that is changed for one lock and put back after it. */
export interface SettingChange {
  /** Undone by the rollback that an error forces, so that only success has to put it back. */
  readonly endsWithError?: boolean
  /** Reads the old value into the column `saved`; absent where the server keeps it for us. */
  readonly read?: SqlStatement
  readonly apply: SqlStatement
  /** Has one `{saved}` where `read` is present. */
  readonly restore: SqlStatement
  /** The same two as columns of a query, for a lock that is one: `apply` before it, and `restore` behind it. */
  readonly columns?: { readonly apply: string; readonly restore: string }
}

/**
 * Locks tables before the transaction's first statement. Those of several plans go into one statement, because a second
 * one would give up what the first has locked.
 */
export interface TablesAtOnce {
  /** What is sent first. */
  readonly before: readonly SqlStatement[]
  /** The words of the lock, with `{tables}` where the tables stand. */
  readonly lock: string
  /** A table and its mode, once for each name that it is used by. */
  readonly tables: readonly string[]
}

/** What is sent for tables that are locked at once, in its order: with all that the first one says, and every table. */
export function statementsAtOnce(
  { before, lock, tables }: TablesAtOnce,
  others: readonly TablesAtOnce[] = [],
): readonly SqlStatement[] {
  const all = [...tables, ...others.flatMap((other) => other.tables)].join(', ')
  return [...before, { sql: lock.replace('{tables}', () => all), params: [] }]
}

/** How the rows of a query come to be locked. */
export type QueryLock =
  /** The clause stands at the end of the SELECT. */
  | {
      readonly style: 'clause'
      readonly clause: string
      readonly read?: SqlStatement
      /** A DELETE of this server deletes the rows of a sub-query with this clause, too. */
      readonly isUnsafeInDelete?: true
    }
  /** The hints stand behind each locked table: `FROM t WITH (hints)`. */
  | { readonly style: 'table-hint'; readonly hints: readonly string[]; readonly read?: SqlStatement }
  /** The transaction's own lock covers the rows: the query stays as it is. */
  | { readonly style: 'covered'; readonly read?: SqlStatement }
  /** The rows are written without being changed, so that a second writer conflicts; then they are read. */
  | { readonly style: 'touch'; readonly touch: Statement; readonly read?: Statement }

/**
 * The statement that restores a setting, with the saved value in its place.
 *
 * Only whole numbers fit: the value becomes text of the statement, since SET takes no parameters on some engines.
 */
export function restoreStatement(setting: SettingChange, saved: unknown): SqlStatement {
  if (setting.read === undefined) return setting.restore
  const value = String(saved)
  if (!/^-?\d{1,15}$/.test(value)) throw new TypeError(`Not a setting's saved value: ${value}`)
  return { ...setting.restore, sql: setting.restore.sql.replace('{saved}', value) }
}
