import type { TableName } from '../core/request.ts'
import type { Statement, Value } from '../core/statement.ts'
import type { Changes, Counted } from './claim.ts'

/** One row of the user's table, and the column whose number rises with every change of the row. */
export interface VersionedRow {
  readonly table: TableName
  readonly key: Readonly<Record<string, Value>>
  readonly version: string
}

export interface VersionedChange {
  /** The version at which the change was decided. */
  readonly expected: number
  readonly set: Changes
}

/** How a row is changed by somebody who has not locked it, and is to notice when another was faster. */
export interface OptimisticStatements {
  readonly read: (row: VersionedRow) => Statement
  /**
   * Changes the row and counts its version up by one, unless it has another version than expected.
   *
   * Of two transactions that do so from the same version, at every isolation level, the second finds no row or fails.
   */
  readonly change: (row: VersionedRow, change: VersionedChange) => Counted
}
