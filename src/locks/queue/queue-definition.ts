import type { TableName } from '../../core/request.ts'
import type { Row, Value } from '../../core/statement.ts'
import type { Changes, QueueTable } from '../../dialects/claim.ts'

/** The columns of a row type; any name where nothing is known of the table. */
export type QueueColumn<R> = string extends keyof R
  ? string
  : [keyof R] extends [never]
    ? string
    : Extract<keyof R, string>

/** The values of a column that can be sent to a database. */
export type QueueValue<R, C> = C extends keyof R
  ? unknown extends R[C]
    ? Value
    : Extract<R[C], Value>
  : Value

/** Values for some columns of a row. */
export type QueueChanges<R> = { readonly [C in QueueColumn<R>]?: QueueValue<R, C> }

/** A column to order by, ascending unless it says otherwise. */
export type QueueOrderTerm<R> =
  | QueueColumn<R>
  | { readonly column: QueueColumn<R>; readonly direction?: 'asc' | 'desc' }

/** A table (or a collection) of yours, described as a queue. */
export interface QueueDefinition<R extends object = Row> {
  /** The table, or the collection, that holds the jobs. */
  readonly table: TableName
  /** The column by which a row is found again: the primary key. */
  readonly id: QueueColumn<R>
  /** In which order jobs are claimed. Equal ones are claimed in the order of their id. */
  readonly orderBy: QueueOrderTerm<R> | readonly QueueOrderTerm<R>[]
  /** Which rows are jobs: each of these columns has its value, or one of its values. @default every row */
  readonly where?: {
    readonly [C in QueueColumn<R>]?: QueueValue<R, C> | readonly QueueValue<R, C>[]
  }
  /** The columns that hold the claim. */
  readonly claim: {
    /** A text of 36 characters; null when nobody has the job. */
    readonly token: QueueColumn<R>
    /** A BIGINT: until when nobody else gets it, in milliseconds since 1970 by the server's clock; null when it is free. */
    readonly until: QueueColumn<R>
    /** Who has claimed it last. */
    readonly worker?: QueueColumn<R>
    /** How often it was claimed. */
    readonly attempts?: QueueColumn<R>
    /**
     * What `enqueue` stores only once until the job is claimed: a text or a number, with a unique index; null when the
     * job was claimed, or may be there several times.
     */
    readonly unique?: QueueColumn<R>
  }
  /** What becomes of a job that is done. Afterwards `where` must not match it. */
  readonly done: 'delete' | { readonly set: QueueChanges<R> }
  /** What becomes of a job that was claimed so often and never done. @default it is claimed again for ever */
  readonly dead?: { readonly afterAttempts: number; readonly set: QueueChanges<R> }
  /** For how long a claim keeps others away. @default 30_000 */
  readonly visibilityMs?: number
}

declare const rowType: unique symbol

/** A queue that was checked. Made by {@link queue}. */
export interface Queue<R extends object = Row> {
  /** The table and its columns, checked. */
  readonly shape: QueueTable
  /** What becomes of a job that is done. */
  readonly done: Changes | 'delete'
  /** What is written to a job that was claimed too often. */
  readonly dead?: Changes
  /** For how long a claim keeps others away. */
  readonly visibilityMs: number
  readonly [rowType]?: R
}
