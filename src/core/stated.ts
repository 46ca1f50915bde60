import type { ErrorLike, ErrorMeaning } from './classification.ts'
import {
  CommitOutcomeUnknownError,
  LockError,
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
} from './errors.ts'

/** The meaning that an error states by itself, and the code that it states it with. */
export interface Stated extends ErrorMeaning {
  readonly code: string
  /** Of a kind that says so by itself only where more is known. */
  readonly retryable?: true
}

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }

/** Node's names for a broken or refused connection: the same under every driver. */
const socketCodes: Readonly<Record<string, ErrorMeaning>> = {
  ECONNRESET: lost,
  ECONNREFUSED: lost,
  ECONNABORTED: lost,
  EPIPE: lost,
  ETIMEDOUT: lost,
  ENOTCONN: lost,
  ENETUNREACH: lost,
  ENETRESET: lost,
  EHOSTUNREACH: lost,
}

/**
 * Prisma's codes, which libraries with the same interface use too.
 *
 * They hide the engine's own code. P2034 stands for deadlocks, serialization failures and write conflicts alike.
 * https://www.prisma.io/docs/orm/reference/error-reference
 */
const wrapperCodes: Readonly<Record<string, ErrorMeaning>> = {
  // Holdfast's own, of another copy of it
  TX_RETRYABLE: { kind: 'write-conflict', transaction: 'aborted' },
  P2034: { kind: 'write-conflict', transaction: 'aborted' },
  P2002: { kind: 'unique-violation', transaction: 'aborted' },
  P1001: lost,
  P1002: lost,
  P1008: lost,
  P1017: lost,
}

/** What an error says that no engine made: a broken socket, or a library that has translated the engine's error. */
export function statedBy(error: ErrorLike): Stated | undefined {
  // Prisma gives the code of a failed start another name
  for (const code of [error.code, error.errorCode]) {
    if (typeof code !== 'string') continue
    const meaning = lookUp(socketCodes, code) ?? lookUp(wrapperCodes, code)
    if (meaning !== undefined) return { ...meaning, code }
  }
  return undefined
}

/**
 * What Holdfast itself has concluded about the error's cause.
 *
 * It knows more than the cause says: that a refused NOWAIT was the last of many tries, or that the lost connection had
 * a COMMIT under way. Errors without a kind of their own, such as a lost lease, leave the word to their cause.
 */
export function concludedBy(error: unknown): Stated | undefined {
  if (!(error instanceof LockError)) return undefined
  const { code } = error
  if (error instanceof RetryableTransactionError)
    return { kind: error.kind, transaction: 'aborted', code, retryable: true }
  if (error instanceof LockTimeoutError) return { kind: 'lock-timeout', transaction: 'open', code }
  if (error instanceof LockNotAvailableError) return { kind: 'lock-not-available', transaction: 'open', code }
  if (error instanceof CommitOutcomeUnknownError)
    return { kind: error.isStored === true ? 'other' : 'commit-unknown', transaction: 'unknown', code }
  // whatever the work has thrown afterwards, running it again would do twice what is stored
  if (error instanceof LockUsageError && error.isStored) return { kind: 'other', transaction: 'open', code }
  return undefined
}

/** The entry of a table, and never something that every object inherits. */
export function lookUp<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
