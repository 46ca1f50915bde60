import type { ErrorKind } from '../core/error-kind.ts'
import type { Row, Statement } from '../core/statement.ts'

/**
 * The table (collection) `_once`: a row for each key under which something was done, written by the transaction that
 * did it.
 */
export interface OnceStatements {
  /** Makes the table. Outside of a transaction; safe to run again. */
  readonly schema: readonly Statement[]
  /**
   * Changes a row that was made with the table, before the mark, where two transactions that insert one key would only
   * meet when they commit. Gives the row; none where the table has to be made first.
   */
  readonly guard?: (name: string) => Statement
  /** Writes the mark unless it is there. */
  readonly mark: (name: string) => Statement
  /** Whether the mark was not there before, by what `mark` answers. */
  readonly isFirst: (rows: readonly Row[]) => boolean
  /**
   * What errors of `guard` and `mark` mean. `done`: the mark is there, and the transaction can go on. `held`: another
   * transaction is about to leave it, or has done so since this one began; the transaction is over, and the next one
   * will see.
   */
  readonly refusals: { readonly [K in ErrorKind]?: 'done' | 'held' }
}

/** For engines whose mark answers with a row where it was written, and with none where it was there. */
export function isWritten(rows: readonly Row[]): boolean {
  return rows.length > 0
}
