import type { Category } from './category.ts'
import type { LockKey } from './lock-key.ts'
import type { Value } from './statement.ts'

/** `exclusive` excludes everybody else, `shared` only those who want `exclusive`. */
export type LockMode = 'exclusive' | 'shared'

/** What to do when somebody else holds the lock. */
export type Wait = 'block' | 'nowait' | 'skip' | { readonly timeoutMs: number }

/** A transaction's isolation level. A database that does not have it refuses it. */
export type Isolation =
  | 'read uncommitted'
  | 'read committed'
  | 'repeatable read'
  | 'snapshot'
  | 'serializable'

/**
 * How much of a row is locked.
 *
 * `no-key-update` and `key-share` leave foreign keys that point at the row alone. An engine that has only the
 * plain locks takes `update` or `share` in their place and says so.
 */
export type Strength = 'update' | 'no-key-update' | 'share' | 'key-share'

/**
 * A table's name. A list is a qualified name, outermost part first; a dot inside a part is part of the name. Outside of a
 * list SQL databases refuse a dot, which may be meant as either.
 */
export type TableName = string | readonly string[]

/** Rows named by their columns: each column equals its value, or one of its values. */
export interface Target {
  /** The table of the rows. */
  readonly table: TableName
  /** The columns that name the rows, such as `{ id: 1 }` or `{ id: [1, 2] }`. */
  readonly key: Readonly<Record<string, Value | readonly Value[]>>
}

interface AnyRequest {
  /** Refuse a stronger or emulated lock too. @default false */
  readonly exact?: boolean
  /** The isolation level of the transaction, when it is known: on some engines the right lock depends on it. */
  readonly isolation?: Isolation
}

/** A request for a lock on rows. */
export interface RowRequest extends AnyRequest {
  /** Whether others may hold it too, in shared mode. @default the category's own mode, otherwise `exclusive` */
  readonly mode?: LockMode
  /** How much of each row is locked. @default `update` when exclusive, `share` when shared */
  readonly strength?: Strength
  /** What to do while somebody else holds a row. @default the category's own way to wait, otherwise `block` */
  readonly wait?: Wait
  /** The tables of a join whose rows are locked, by the name the query gives them. @default all */
  readonly of?: readonly string[]
  /** The rows. Without it the plan tells what to add to a query; engines that lock by writing need it. */
  readonly target?: Target
  /** Also hold off rows that would match but do not exist yet. @default false */
  readonly protectAbsence?: boolean
}

/** A request for a lock on a name. */
export interface AdvisoryRequest extends AnyRequest {
  readonly key: LockKey
  /** @default 'exclusive' */
  readonly mode?: LockMode
  /** Until when it is held: the end of the transaction, or a release. @default 'transaction' */
  readonly scope?: 'transaction' | 'session'
  /** `skip` makes no sense for a name. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Who asks and for how long, on engines where a session lock is a row with an expiry. */
  readonly lease?: LeaseTerms
}

/** Who holds a lease, and for how long. */
export interface LeaseTerms {
  /** Unique for each acquisition. */
  readonly owner: string
  readonly ttlMs: number
}

/** A request for a lock on a table. */
export interface TableRequest extends AnyRequest {
  /** The table. */
  readonly table: TableName
  /** `shared` keeps writers out and lets others share it. @default 'exclusive' */
  readonly mode?: LockMode
  /** What to do while others use the table: `skip` makes no sense for one. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Keep plain readers out too. @default false */
  readonly blockReaders?: boolean
  /**
   * Other names that queries of the transaction give to the table, as in `FROM stock AS s`. MySQL and MariaDB let a
   * transaction that has locked tables use them by the names that it has locked alone; elsewhere this has no effect.
   *
   * @default none
   */
  readonly aliases?: readonly string[]
}

/** The request that each category takes. */
export interface Requests {
  readonly 'row-exclusive': RowRequest
  readonly 'row-shared': RowRequest
  readonly 'skip-locked': RowRequest
  readonly nowait: RowRequest
  readonly 'lock-timeout': RowRequest
  readonly advisory: AdvisoryRequest
  readonly table: TableRequest
}

/** The request that a category takes. */
export type RequestOf<C extends Category> = Requests[C]
