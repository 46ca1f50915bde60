import type { SqlStatement } from '../core/statement.ts'
import type { Counted } from './claim.ts'

/** How many rows a statement is to give or to change. */
export interface ExpectedRows {
  readonly least: number
  readonly most: number
}

/** How statements are sent that are known before their transaction begins. */
export interface DeclaredTraits {
  /** A statement that gives no rows, made to say how many it has changed. */
  readonly counted: (write: SqlStatement) => Counted
  /**
   * A statement that fails on the server unless the rows are as expected, so that nobody has to be asked before COMMIT.
   * `returns`: whether it gives rows of its own; `hasWith`: whether it begins with WITH. Undefined where it cannot be made so, absent where none can.
   */
  readonly guarded?: (
    statement: SqlStatement,
    guard: { readonly expected: ExpectedRows; readonly returns: boolean; readonly hasWith: boolean },
  ) => SqlStatement | undefined
  /** Whether an error is that of such a statement. */
  readonly isGuard?: (error: unknown) => boolean
}
