import { checkBackoff, type BackoffOptions } from '../../core/backoff.ts'
import { checkDuration, checkSignal, checkWork, onlyKnown, oneOf, show } from '../../core/check-field.ts'
import { errorKinds, type ErrorKind } from '../../core/error-kind.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Isolation } from '../../core/request.ts'
import type { TablesOption } from '../table/options.ts'

/** How a transaction runs and when it runs again. */
export interface TransactionOptions {
  /** The isolation level. One that the database does not have is refused. @default the server's own */
  readonly isolation?: Isolation
  /**
   * Tables to lock before its first statement, all of them in one order that every caller shares, until its end. On MySQL
   * and MariaDB the transaction can then use no other table. @default none
   */
  readonly tables?: TablesOption
  /** Whether the transaction may write. @default 'read-write' */
  readonly access?: 'read-write' | 'read-only'
  /** The longest wait for any one lock in it, then {@link LockTimeoutError}. @default the server's own */
  readonly lockTimeoutMs?: number
  /** How often it is run at most. @default 5 */
  readonly attempts?: number
  /** How long all attempts and pauses may take together: no new attempt starts after it, and `withLock` waits no longer for its lock. It does not end the work. @default no limit */
  readonly budgetMs?: number
  /** The pauses between attempts. */
  readonly backoff?: BackoffOptions
  /**
   * Ends the wait and the work; the transaction is rolled back and the call rejects with the signal's reason. That of a part
   * (`nested: 'join'`) only keeps it from starting: what ends the work is the signal of the outer transaction.
   */
  readonly signal?: AbortSignal
  /** Told before each pause. What it throws ends the call. */
  readonly onRetry?: (retry: Retry) => void | Promise<void>
  /**
   * What a call inside another transaction of the same locks does: refuse, or run as a part of it. A part that asks for
   * another `isolation`, `access` or `lockTimeoutMs` than that has is refused; `attempts`, `budgetMs` and the callbacks
   * are those of the outer one. @default 'refuse'
   */
  readonly nested?: 'refuse' | 'join'
  /** Kinds of error that are worth another attempt for this work besides the retryable ones, such as `lock-timeout`. */
  readonly alsoRetry?: readonly ErrorKind[]
  /**
   * Says whether the work is stored, when the connection broke before COMMIT was answered: look for the row that the
   * work wrote. Where the server itself can tell, it is asked first.
   */
  readonly verifyCommit?: () => Promise<boolean>
}

/** A lost attempt, as `onRetry` is told of it. */
export interface Retry {
  /** The attempt that failed; the first is 1. */
  readonly attempt: number
  /** What that means. */
  readonly kind: ErrorKind
  /** What the attempt failed with. */
  readonly error: unknown
  /** How long the pause before the next attempt is. */
  readonly pauseMs: number
}

/** The fields of {@link TransactionOptions}. */
export const transactionFields: readonly string[] = [
  'isolation',
  'tables',
  'access',
  'lockTimeoutMs',
  'attempts',
  'budgetMs',
  'backoff',
  'signal',
  'onRetry',
  'nested',
  'alsoRetry',
  'verifyCommit',
]

/**
 * Checks the options at the door; the mistake is a {@link LockUsageError} that names the field. `fields`: those that
 * may be there.
 */
export function checkTransaction(
  options: TransactionOptions,
  fields: readonly string[] = transactionFields,
): TransactionOptions {
  onlyKnown(options, fields)
  const { attempts, budgetMs, lockTimeoutMs, nested, access, alsoRetry } = options
  if (attempts !== undefined && (!Number.isSafeInteger(attempts) || attempts < 1)) {
    throw new LockUsageError('attempts', `${show(attempts)} is not a whole number from 1 up`)
  }
  checkSignal(options.signal)
  if (budgetMs !== undefined) checkDuration('budgetMs', budgetMs)
  if (nested !== undefined) oneOf('nested', nested, ['refuse', 'join'])
  if (access !== undefined) oneOf('access', access, ['read-write', 'read-only'])
  if (alsoRetry !== undefined) checkKinds(alsoRetry)
  checkCalls(options)
  if (lockTimeoutMs === undefined) return options
  const wholeMs = checkDuration('lockTimeoutMs', lockTimeoutMs)
  return wholeMs === lockTimeoutMs ? options : { ...options, lockTimeoutMs: wholeMs }
}

function checkKinds(kinds: readonly ErrorKind[]): void {
  if (!Array.isArray(kinds))
    throw new LockUsageError('alsoRetry', `${show(kinds)} is not a list: pass one, as in ['lock-timeout']`)
  for (const kind of kinds as readonly ErrorKind[]) oneOf('alsoRetry', kind, errorKinds)
}

/** What is called, or counted with, only when something went wrong: too late to learn that it cannot be. */
function checkCalls({ backoff, onRetry, verifyCommit }: TransactionOptions): void {
  if (backoff !== undefined) checkBackoff(backoff)
  if (onRetry !== undefined) checkWork(onRetry, 'onRetry', '({ attempt, kind }) => { ... }')
  if (verifyCommit !== undefined) checkWork(verifyCommit, 'verifyCommit', 'async () => true')
}
