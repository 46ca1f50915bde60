import type { Witness } from '../../core/session.ts'
import { noteFailure } from '../note-failure.ts'

/** DuckDB finds these before a statement has run, and leaves the transaction as it was. */
const harmless = /^(?:Failed to [a-z ]+: )?(?:Parser|Syntax|Binder|Catalog) Error: /
/** What every statement says after the one that failed. */
const consequence = /TransactionContext Error: Current transaction is aborted/

/** Which error has ended a transaction: of those that were caught on the way, most have not. */
export class Blame implements Witness {
  error: unknown
  failures: unknown[] = []
  /** The work has returned: it hears of no error any more. */
  hasReturned = false
  /** The first of its own since then. */
  late: unknown

  get ending(): unknown {
    return this.error
  }

  forget(): void {
    this.error = undefined
    this.hasReturned = false
    this.late = undefined
    this.failures = []
  }

  note(error: unknown): void {
    noteFailure(this.failures, error)
    if (isOfDatabase(error) && !harmless.test(error.message) && !consequence.test(error.message))
      this.error ??= error
  }

  /** As `explain`, of a call of the work. */
  explainToWork(error: unknown, others: () => Promise<unknown>): Promise<unknown> {
    if (this.hasReturned) this.late ??= error
    return this.explain(error, others)
  }

  /**
   * Gives the error back. One that only follows from another gets that as its `cause`, so whoever classifies it sees a
   * conflict as one: of statements that run at the same time, any may be the first to be heard of.
   */
  async explain(error: unknown, others: () => Promise<unknown>): Promise<unknown> {
    this.note(error)
    if (!isOfDatabase(error) || !consequence.test(error.message)) return error
    if (this.error === undefined) await others()
    error.cause ??= this.error
    return error
  }
}

/** The driver's own mistakes, such as a value that cannot be bound, are errors of another class. */
function isOfDatabase(error: unknown): error is Error {
  return error instanceof Error && error.name === 'Error'
}
