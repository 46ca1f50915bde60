import { LockTimeoutError, RetryableTransactionError } from '../core/errors.ts'
import { naming, notInTime, type Asked } from './refused.ts'

/**
 * A lock is held by another on an engine that reports it by ending the transaction. The wait for it is done by
 * repeating the transaction: that is not a failed attempt, and it has the lock's own time limit.
 */
export class LockContention extends RetryableTransactionError {
  readonly timeoutMs: number | undefined
  /** Which lock it is, once that is known. */
  asked: Asked | undefined

  constructor(timeoutMs: number | undefined, cause: unknown) {
    super('write-conflict', 'the lock is held by another: the transaction is repeated until it is free', {
      cause,
    })
    this.timeoutMs = timeoutMs
  }

  timedOut(limitMs: number | undefined): LockTimeoutError {
    if (this.asked !== undefined && limitMs !== undefined) {
      const limit =
        this.timeoutMs === undefined ? { lockTimeoutMs: limitMs } : { wait: { timeoutMs: limitMs } }
      return notInTime({ ...this.asked, ...limit }, this.cause)
    }
    return new LockTimeoutError(`a lock was not acquired within ${limitMs} ms`, { cause: this.cause })
  }

  /** The time for the whole call is over. */
  outOf(budgetMs: number): LockTimeoutError {
    if (this.asked !== undefined) return notInTime({ ...this.asked, budgetMs, leftMs: 0 }, this.cause)
    return new LockTimeoutError(`a lock was not acquired within ${budgetMs} ms (budgetMs)`, {
      cause: this.cause,
    })
  }
}

/** Says which lock a refusal is about, also one that is waited for by repeating the transaction. */
export function namingHeld(error: unknown, asked: Asked): unknown {
  if (!(error instanceof LockContention)) return naming(error, asked)
  error.asked ??= asked
  return error
}
