import { LockTimeoutError, RetryableTransactionError } from '../core/errors.ts'

/**
 * A lock is held by another on an engine that reports it by ending the transaction. The wait for it is done by
 * repeating the transaction: that is not a failed attempt, and it has the lock's own time limit.
 */
export class LockContention extends RetryableTransactionError {
  readonly timeoutMs: number | undefined

  constructor(timeoutMs: number | undefined, cause: unknown) {
    super('write-conflict', 'the lock is held by another: the transaction is repeated until it is free', {
      cause,
    })
    this.timeoutMs = timeoutMs
  }

  timedOut(limitMs: number | undefined): LockTimeoutError {
    return new LockTimeoutError(`the lock did not come free in ${limitMs} ms`, { cause: this.cause })
  }
}
