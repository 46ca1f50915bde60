import type { Classification } from '../core/classification.ts'
import { classifyAmong, classifyFor, type ErrorSource } from '../core/classify.ts'
import { isRetryable } from '../core/error-kind.ts'
import {
  LockError,
  LockNotAvailableError,
  LockTimeoutError,
  RetryableTransactionError,
} from '../core/errors.ts'

/** What an error of the work or of the database means, and the error that the caller is to see. */
export interface Failure extends Classification {
  readonly error: unknown
  /** Whether that is the work's own, whatever it means. */
  readonly isOwn?: true
}

/** What ends the wait of a statement of the work, unless the server has a lower limit of its own. */
interface LockLimits {
  readonly lockTimeoutMs?: number | undefined
  readonly budgetMs?: number | undefined
}

/**
 * A database error as the one class that says what to do about it; its `cause` is the driver's own error.
 *
 * What is not about locks stays as it was thrown.
 */
export function readFailure(
  error: unknown,
  from: ErrorSource | readonly ErrorSource[],
  limits?: LockLimits,
): Failure {
  const meaning = isList(from) ? classifyAmong(error, from) : classifyFor(error, from)
  return { ...meaning, error: error instanceof LockError ? error : (lockError(meaning, limits) ?? error) }
}

function isList(from: ErrorSource | readonly ErrorSource[]): from is readonly ErrorSource[] {
  return Array.isArray(from)
}

function lockError(
  { kind, code, dialect = 'the database', original: cause }: Classification,
  limits: LockLimits = {},
): LockError | undefined {
  const from = code === undefined ? dialect : `${dialect} ${code}`
  if (isRetryable(kind)) {
    return new RetryableTransactionError(
      kind,
      `the transaction lost to another (${kind}; ${from}): run it again`,
      { cause },
    )
  }
  if (kind === 'lock-timeout')
    return new LockTimeoutError(
      `a lock was not acquired in time (${[from, ...inWords(limits)].join('; ')})`,
      {
        cause,
        dialect,
      },
    )
  if (kind === 'lock-not-available')
    return new LockNotAvailableError(`a lock was not acquired: another holder has it (${from})`, {
      cause,
      dialect,
    })
  return undefined
}

/** Which of them it was, the server does not say. */
function inWords({ lockTimeoutMs, budgetMs }: LockLimits): readonly string[] {
  return Object.entries({ lockTimeoutMs, budgetMs }).flatMap(([name, ms]) =>
    ms === undefined ? [] : [`${name} is ${ms}`],
  )
}
