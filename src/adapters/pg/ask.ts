import type { Row, Value } from '../../core/statement.ts'
import type { StatementNames } from './names.ts'

/** What sends a statement: a client of `pg`, or the line to one. */
export interface PgSender {
  query(text: string, values: unknown[] | undefined, callback: PgCallback): unknown
  query(config: PgQuery, callback: PgCallback): unknown
}

export type PgCallback = (error: Error | null | undefined, answer: PgAnswer) => void

/** A statement with a name. One without is sent as text and values: `pg` copies an object property by property. */
export interface PgQuery {
  name: string
  text: string
  values: unknown[]
}

/** What is used of a result of `pg`. */
export interface PgResult {
  readonly command: string
  readonly rows: readonly Row[]
}

/** Without values one text may hold several statements: then there is a result for each. */
export type PgAnswer = PgResult | readonly PgResult[]

/** What is asked of the server. */
export interface Question {
  readonly text: string
  /** Absent where the text is several statements: the native client sends only one beside values. */
  readonly values?: readonly Value[]
  /** Under which the connection keeps it prepared. */
  readonly name?: string | undefined
}

/**
 * Gives the last result. By callback: what `pg` promises is two promises, and every transaction asks three times and
 * more. What the question throws when it is made is thrown by the promise.
 */
export function ask(sender: PgSender, question: () => Question): Promise<PgResult | undefined> {
  return new Promise((resolve, reject) => {
    const { text, values, name } = question()
    const told: PgCallback = (error, answer) => (error == null ? resolve(lastOf(answer)) : reject(error))
    const promised =
      name === undefined
        ? sender.query(text, values && [...values], told)
        : sender.query({ name, text, values: [...(values ?? [])] }, told)
    // `pg` itself gives nothing; a `query` that was put in its place may keep the callback to itself
    if (promised instanceof Promise)
      promised.then((answer: PgAnswer | undefined) => answer && told(undefined, answer), reject)
  })
}

/** Gives the rows. Where only the name was refused, the statement is sent without it. */
export function askForRows(
  sender: PgSender,
  question: () => Question,
  names: StatementNames | undefined,
): Promise<readonly Row[]> {
  let asked: Question | undefined
  return ask(sender, () => (asked = question())).then(rowsOf, (error: unknown) => {
    if (asked === undefined) throw error
    const { name, ...unnamed } = asked
    // not run, and there is no transaction that the error could have ended
    if (name !== undefined && names?.isRefused(error, name) === true)
      return askForRows(sender, () => unnamed, undefined)
    // a stack that leads to whoever sent the statement, as `pg` gives it where it makes the promise
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  })
}

export function rowsOf(result: PgResult | undefined): readonly Row[] {
  return result?.rows ?? []
}

function lastOf(answer: PgAnswer): PgResult | undefined {
  return isList(answer) ? answer.at(-1) : answer
}

function isList(answer: PgAnswer): answer is readonly PgResult[] {
  return Array.isArray(answer)
}
