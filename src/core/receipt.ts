import type { Category } from './category.ts'
import type { LockMode } from './request.ts'
import type { Statement } from './statement.ts'
import type { Granularity, Supported } from './support.ts'

/** What was really taken, so that nobody has to guess from what was asked. */
export interface Receipt {
  readonly dialect: string
  readonly category: Category
  readonly asked: LockMode
  readonly granted: LockMode
  readonly granularity: Granularity
  readonly scope: 'transaction' | 'session'
  readonly support: Supported
  /** The statements that took the lock, as they were sent. */
  readonly statements: readonly Statement[]
  /** Zero until the lock is granted, where the work does not wait for that (`pipeline: true`). */
  readonly waitedMs: number
}
