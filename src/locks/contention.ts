import { LockTimeoutError, RetryableTransactionError } from '../core/errors.ts'
import { naming, notInTime, type Asked } from './refused.ts'

const heldByAnother = 'the lock is held by another: the transaction is repeated until it is free'

/**
 * A lock is held by another on an engine that reports it by ending the transaction, or the transaction cannot see what
 * the lock needs, since that is younger. The wait for it is done by repeating the transaction, whatever the work makes of
 * this error: that is not a failed attempt, and it has the lock's own time limit.
 */
export class LockContention extends RetryableTransactionError {
  readonly timeoutMs: number | undefined
  /** Which lock it is, once that is known. */
  asked: Asked | undefined
  /** Whether somebody has it: only then does the time run that it may be waited for. */
  isHeld = true

  constructor(timeoutMs: number | undefined, cause: unknown, message: string = heldByAnother) {
    super('write-conflict', message, { cause })
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

/** Nobody holds the lock, but the transaction began before what it needs was made, and may not see it. */
export function madeJustNow(what: string, timeoutMs: number | undefined): LockContention {
  const why = `${what} was made just now`
  const error = new LockContention(timeoutMs, new Error(why), `${why}: the transaction is repeated`)
  error.isHeld = false
  return error
}
