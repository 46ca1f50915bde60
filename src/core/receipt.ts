import type { Category } from './category.ts'
import type { LockMode } from './request.ts'
import type { Statement } from './statement.ts'
import type { Granularity, Supported } from './support.ts'

/** What was really taken, so that nobody has to guess from what was asked. */
export interface Receipt {
  /** The name of the dialect, such as `postgres`. */
  readonly dialect: string
  /** The kind of lock. */
  readonly category: Category
  /** The mode that was asked for. */
  readonly asked: LockMode
  /** The mode that was taken: never weaker than asked. */
  readonly granted: LockMode
  /** How much is locked: a row, a table, the whole database. */
  readonly granularity: Granularity
  /** Until when it is held: the end of the transaction, or a release. */
  readonly scope: 'transaction' | 'session'
  /** Whether the lock is native, stronger than asked, or emulated. */
  readonly support: Supported
  /** The statements that took the lock, as they were sent. */
  readonly statements: readonly Statement[]
  /** Zero until the lock is granted, where the work does not wait for that (`pipeline: true`). */
  readonly waitedMs: number
}
