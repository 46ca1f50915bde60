import { LockUsageError } from '../core/errors.ts'

/**
 * What COMMIT is answered with when there is nothing left to commit: the database has ended the transaction after an
 * error, and the error was caught.
 *
 * `failure` is that error. It becomes the `cause`, so whoever classifies this error still sees a deadlock as one.
 */
export function nothingToCommit(failure: unknown): LockUsageError {
  return new LockUsageError(
    'transaction',
    'an error in it was caught, and the database has rolled it back: nothing is stored. Do not catch the error',
    failure === undefined ? {} : { cause: failure },
  )
}

/** A statement that nobody waited for has failed after the work had returned. Its error is the `cause`. */
export function floatingFailure(cause: unknown): LockUsageError {
  return new LockUsageError(
    'transaction',
    'a statement that the work did not await has failed: nothing is stored. Await every statement',
    { cause },
  )
}

/** What was sent beside nested work was undone with it, and whoever has sent it was told that it succeeded. */
export function undoneWithNested(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'nested work has failed and was rolled back to its savepoint, and with it what was sent beside it: nothing is stored. ' +
      'Await nested work before you use the outer transaction again',
  )
}

/** Nobody has seen the rest of a stream. */
export function leftOpen(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'the work has returned while a stream was open: nothing is stored. Read it to its end, or leave its loop',
  )
}

/**
 * What COMMIT is answered with when nothing has failed, and there is no transaction all the same: somebody has ended it
 * by a statement of their own. What was written until then may be stored, and the locks were gone since.
 */
export function endedByWork(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'it had ended before its COMMIT: the work, or other code on its connection, sent COMMIT or ROLLBACK. ' +
      'What it wrote before that may be stored, and its locks were gone from then on',
  )
}

/** The first error since a transaction began. */
export interface Failure {
  readonly error: unknown
  readonly forget: () => void
  readonly note: (error: unknown) => void
  /** Gives what `work` gives, and remembers its error. */
  readonly watch: <T>(work: () => Promise<T>) => Promise<T>
}

export function firstFailure(): Failure {
  return new FirstFailure()
}

/** A class, because a getter in an object literal gives every object a shape of its own, which is kept for long. */
class FirstFailure implements Failure {
  error: unknown

  forget = (): void => {
    this.error = undefined
  }

  note = (error: unknown): void => {
    this.error ??= error
  }

  watch = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      this.note(error)
      throw error
    }
  }
}
