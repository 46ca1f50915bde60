import { isSql, type SqlStatement, type Statement } from '../../core/statement.ts'

/** Statements of ours, by the errors that they have failed with: with their parameters, which no error tells. */
const failed = new WeakMap<object, SqlStatement>()

/** Notes what has failed, and throws its error. */
export function failedBy(statement: Statement): (error: unknown) => never {
  return (error) => {
    if (typeof error === 'object' && error !== null && isSql(statement)) failed.set(error, statement)
    throw error
  }
}

/** The statement of ours that has failed with this error. */
export function ownStatement(error: unknown): SqlStatement | undefined {
  return failed.get(error as object)
}
