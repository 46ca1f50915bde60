/** A value that may travel to the database beside a statement, never inside its text. */
export type Value = string | number | bigint | boolean | null | Date | Uint8Array

/** One SQL statement. Values are in `params`, in the order of the dialect's own placeholders. */
export interface SqlStatement {
  /** The text, with the placeholders of the database. */
  readonly sql: string
  /** The values of its placeholders, in their order. */
  readonly params: readonly Value[]
  /** How to read the one answer of a statement that reports success as a value, not as an error. */
  readonly answers?: Answers
  /**
   * The same text is sent again and again, on its own: a driver that can keeps it prepared on the connection, which
   * saves the server the parsing and planning. No more than a wish, and without effect inside of a transaction.
   */
  readonly isPrepared?: true
}

/** One command of a document database, ready for the driver's `command()`. */
export interface DocumentCommand {
  /** The command as the driver sends it. */
  readonly command: Readonly<Record<string, unknown>>
  /** For what only another database answers. @default that of the connection */
  readonly database?: string
  /** How its result is read, where it says whether a lock was granted. */
  readonly answers?: Answers
}

/** What is sent to a database. */
export type Statement = SqlStatement | DocumentCommand

/** What a database says when asked for a lock and it answers with a value. */
export type Answer = 'granted' | 'released' | 'busy' | 'not-held' | 'deadlock' | 'cancelled' | 'failed'

/** Where the answer stands in the result, and what each value means: the value as text, `none` for no row, `*` for any other. */
export interface Answers {
  /** The column of the result that holds the answer. */
  readonly column: string
  /** What each value of that column means. */
  readonly meaning: Readonly<Record<string, Answer>>
}

/** A result row, whatever the driver calls it. */
export type Row = Readonly<Record<string, unknown>>

/** Whether a statement is SQL and not a document command. */
export function isSql(statement: Statement): statement is SqlStatement {
  return 'sql' in statement
}

/**
 * What the database answered.
 *
 * Drivers disagree on the type of the same answer (`1`, `1n`, `'1'`, `true`), so values are compared as text.
 * A value that `meaning` does not list is `failed`, never a grant.
 */
export function readAnswer(answers: Answers, rows: readonly Row[]): Answer {
  const first = rows[0]
  const value = first === undefined ? 'none' : textOf(first[answers.column])
  const listed = Object.hasOwn(answers.meaning, value) ? answers.meaning[value] : undefined
  const any = first === undefined ? undefined : answers.meaning['*']
  return listed ?? any ?? 'failed'
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  return value === null || value === undefined ? 'null' : 'object'
}
