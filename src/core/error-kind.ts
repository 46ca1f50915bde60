/** What a database error means to somebody who holds or wants a lock, whatever the engine calls it. */
export const errorKinds = [
  'deadlock',
  'serialization',
  'write-conflict',
  'busy',
  'lock-timeout',
  'lock-not-available',
  'too-many-locks',
  'unique-violation',
  'connection-lost',
  'commit-unknown',
  'cancelled',
  'other',
] as const

/** What an error means, whichever database it comes from. */
export type ErrorKind = (typeof errorKinds)[number]

/** The kinds that end well when the whole transaction is run again. */
export const retryableKinds = ['deadlock', 'serialization', 'write-conflict', 'busy'] as const

/** The kinds of error after which the whole transaction can be run again. */
export type RetryableKind = (typeof retryableKinds)[number]

/** Whether the whole transaction can be run again after an error of this kind. */
export function isRetryable(kind: ErrorKind): kind is RetryableKind {
  return retryableKinds.some((retryable) => retryable === kind)
}

/**
 * What is left of the transaction after an error.
 *
 * `open`: only the statement was undone, so a COMMIT now would keep half of the work. `aborted`: nothing but a
 * ROLLBACK is accepted. `rolled-back`: the engine has ended it already. `unknown`: the connection must be destroyed.
 */
export type TransactionState = 'open' | 'aborted' | 'rolled-back' | 'unknown'
