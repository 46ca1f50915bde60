import type { Category } from './category.ts'
import type { Deadlock } from './deadlock.ts'
import type { RetryableKind } from './error-kind.ts'
import type { LockKey } from './lock-key.ts'
import type { LockMode, TableName } from './request.ts'
import type { Unsupported } from './support.ts'

/** The `code` of a {@link LockError}: one for each class. */
export type LockErrorCode =
  | RetryableCode
  | 'LOCK_TIMEOUT'
  | 'LOCK_NOT_AVAILABLE'
  | 'LOCK_UNSUPPORTED'
  | 'LOCK_LOST'
  | 'COMMIT_UNKNOWN'
  | 'LOCK_USAGE'

/** `P2034`, Prisma's code for the same thing, where the locks are those of a client of that kind. */
export type RetryableCode = 'TX_RETRYABLE' | 'P2034'

/**
 * Everything that Holdfast rejects with. Below it there is one class per decision that a caller can take.
 *
 * `cause` is the driver's own error, untouched, where there is one.
 */
export abstract class LockError extends Error {
  abstract readonly code: LockErrorCode
  /** Whether running the whole transaction again is the right answer. */
  readonly isRetryable: boolean = false
}

/**
 * The transaction lost against another one, or its connection before anything was stored: run all of it again, decisions
 * included.
 */
export class RetryableTransactionError extends LockError {
  override readonly name = 'RetryableTransactionError'
  readonly code: RetryableCode = 'TX_RETRYABLE'
  override readonly isRetryable = true
  /** `connection-lost` only where it is known that nothing is stored. */
  readonly kind: RetryableKind | 'connection-lost'
  /**
   * Who waited for whom, of a `deadlock` that ended the call: there when the last attempt has failed, on databases whose
   * server tells. Of attempts that are repeated the channel `holdfast:deadlock` tells.
   */
  declare readonly deadlock?: Deadlock

  constructor(kind: RetryableKind | 'connection-lost', message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** Which lock was not acquired, as far as the call knew. */
export interface RefusedLock {
  /** Of an advisory lock or a lease. Of several locks that were asked for together, all of them. */
  readonly key?: LockKey | readonly LockKey[]
  /** Of a row lock. */
  readonly table?: TableName
  readonly mode?: LockMode
  readonly dialect?: string
  /** How long the call was allowed to wait. */
  readonly timeoutMs?: number
  /** How long it did wait. */
  readonly waitedMs?: number
}

/** Another holds the lock. The fields say which lock, where the call knew it. */
abstract class LockRefusedError extends LockError implements RefusedLock {
  declare readonly key?: LockKey | readonly LockKey[]
  declare readonly table?: TableName
  declare readonly mode?: LockMode
  declare readonly dialect?: string
  declare readonly timeoutMs?: number
  declare readonly waitedMs?: number

  constructor(message: string, { cause, ...lock }: ErrorOptions & RefusedLock = {}) {
    super(message, cause === undefined ? {} : { cause })
    Object.assign(this, lock)
  }
}

/** The lock did not come free within the time that was given. */
export class LockTimeoutError extends LockRefusedError {
  override readonly name = 'LockTimeoutError'
  readonly code = 'LOCK_TIMEOUT'
}

/** The lock is held by another, and the caller had asked not to wait. */
export class LockNotAvailableError extends LockRefusedError {
  override readonly name = 'LockNotAvailableError'
  readonly code = 'LOCK_NOT_AVAILABLE'
}

/** A lock that had been granted is gone, or can no longer be confirmed: stop writing. */
export class LockLostError extends LockError {
  override readonly name = 'LockLostError'
  readonly code = 'LOCK_LOST'
}

/** The connection broke between COMMIT and its answer: the work may be stored or not. Find out before repeating it. */
export class CommitOutcomeUnknownError extends LockError {
  override readonly name = 'CommitOutcomeUnknownError'
  readonly code = 'COMMIT_UNKNOWN'
  /** True where all of it is known to be stored, and only the rows that it gave are lost. Otherwise nobody knows. */
  readonly isStored: true | undefined

  constructor(message: string, { isStored, ...options }: ErrorOptions & { readonly isStored?: true } = {}) {
    super(message, options)
    this.isStored = isStored
  }
}

/** The call contradicts itself or came at the wrong time; `field` names what to change. */
export class LockUsageError extends LockError {
  override readonly name = 'LockUsageError'
  readonly code = 'LOCK_USAGE'
  readonly field: string
  /** A part of the work is stored although the call failed: to run the work again would do that part twice. */
  readonly isStored: boolean

  constructor(
    field: string,
    message: string,
    { isStored = false, ...options }: ErrorOptions & { readonly isStored?: boolean } = {},
  ) {
    super(`${field}: ${message}`, options)
    this.field = field
    this.isStored = isStored
  }
}

/** The engine cannot give this lock. Nothing weaker was taken in its place. */
export class UnsupportedLockError extends LockError {
  override readonly name = 'UnsupportedLockError'
  readonly code = 'LOCK_UNSUPPORTED'
  readonly dialect: string
  readonly category: Category
  readonly reason: string
  readonly instead: string

  constructor(dialect: string, category: Category, refusal: Unsupported) {
    super(`${dialect} cannot give ${category}: ${refusal.reason}. Instead: ${refusal.instead}.`)
    this.dialect = dialect
    this.category = category
    this.reason = refusal.reason
    this.instead = refusal.instead
  }
}
