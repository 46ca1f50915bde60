import type { LockMode, TableName, TableRequest, Wait } from '../../core/request.ts'

/** How a table is locked in a transaction that is under way. */
export interface TableOptions {
  /** `shared` keeps writers out and lets others share it. @default 'exclusive' */
  readonly mode?: LockMode
  /** Keep plain readers out too, where the database can. @default false */
  readonly blockReaders?: boolean
  /** What to do while others use the table. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Refuse a stronger or emulated lock too. @default false */
  readonly exact?: boolean
  /**
   * Leave the transaction usable when the lock is not granted, where an error would end it: with a savepoint.
   *
   * @default false
   */
  readonly savepoint?: boolean
}

/** A table that a transaction locks before its first statement. */
export type TableLock = Omit<TableRequest, 'isolation'>

/** Tables that a transaction locks before its first statement. In a list, a list is the qualified name of one table. */
export type TablesOption = string | TableLock | readonly (TableName | TableLock)[]
