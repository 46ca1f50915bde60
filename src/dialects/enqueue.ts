import type { Row, SqlStatement, Statement } from '../core/statement.ts'
import type { QueueTable } from './claim.ts'

/** Jobs that are to be stored: rows with the same columns, no more than one statement takes. */
export interface NewRows {
  readonly columns: readonly string[]
  /** The values of each row, in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[]
  /** Whether each has a value in the queue's column `unique`. */
  readonly isUnique: boolean
}

/** How to see whether the column `unique` has the index without which two could store the same job. */
export interface UniqueIndex {
  readonly ask: Statement
  readonly isThere: (rows: readonly Row[]) => boolean
  /** The statement that makes it. */
  readonly create: string
  /** Whether the engine refuses the question inside of a transaction. */
  readonly isOutside?: true
  /** The code of the engine's error for a table that is not there. Absent where the question has an answer then. */
  readonly noTable?: string
}

/**
 * New jobs in a table that belongs to the user.
 *
 * A job with a value in the column `unique` is stored only if no other row has that value; a claim empties the column.
 */
export interface EnqueueStatements {
  /**
   * Stores the rows. Unique ones that are there are left out; where the engine cannot leave some out, all are refused by
   * a unique violation.
   */
  readonly insert: (queue: QueueTable, jobs: NewRows) => Statement
  /** The rows that were stored, by what `insert` answers: at least their ids. Absent where it answers nothing. */
  readonly stored?: (rows: readonly Row[], queue: QueueTable, jobs: NewRows) => readonly Row[]
  /**
   * Gives the ids of jobs with these values in the column `unique` that nobody has claimed. With `isHeld` nobody claims
   * them before the transaction ends. The rows of the last statement are the answer.
   */
  readonly find: (queue: QueueTable, keys: readonly unknown[], isHeld: boolean) => readonly Statement[]
  /** Absent where the column needs none. */
  readonly index?: (queue: QueueTable) => UniqueIndex
  /** Whether two who store the same at once may both try, and one is refused by a unique violation. */
  readonly canCollide?: true
  /**
   * Whether a key has to be sent as text. The engine would compare a number with the texts of a column as numbers, and
   * find the jobs of other keys.
   */
  readonly keysAsText?: true
  /** Whether nobody fills in the column of the id, so that a job without it could never be ended. */
  readonly needsId?: (queue: QueueTable) => boolean
  /** Whether values may be of any type, and not only those that travel beside SQL. */
  readonly takesAnything?: true
}

/** For engines that give a row of the catalog for each index that is fit. */
export function foundIn(ask: SqlStatement, create: string): UniqueIndex {
  return { ask, create, isThere: (rows) => rows.length > 0 }
}
