import { variant, type ErrorLike, type ErrorMeaning, type ErrorTable } from '../../core/classification.ts'

const TRANSIENT = 'TransientTransactionError'
const UNKNOWN_COMMIT = 'UnknownTransactionCommitResult'

const lost: ErrorMeaning = { kind: 'connection-lost', transaction: 'unknown' }
const stale: ErrorMeaning = { kind: 'serialization', transaction: 'rolled-back' }
const cancelled: ErrorMeaning = { kind: 'cancelled', transaction: 'rolled-back' }

/**
 * By label, by the server's code, or by the driver's class where no server has answered.
 *
 * https://www.mongodb.com/docs/manual/reference/error-codes/
 */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  // Only the commit may be repeated, not the transaction.
  [UNKNOWN_COMMIT]: { kind: 'commit-unknown', transaction: 'unknown' },
  // The server says itself that the whole transaction may be repeated.
  [TRANSIENT]: stale,
  '112': { kind: 'write-conflict', transaction: 'rolled-back' },
  // The server has ended the transaction before: killed, expired, or lost against another one.
  '251': stale,
  '246': stale,
  // Two operations were sent as the first of one transaction.
  '117': { kind: 'serialization', transaction: 'open' },
  // LockTimeout. Inside a transaction the server gives up after 5 ms and asks for another try.
  '24': { kind: 'lock-timeout', transaction: 'rolled-back' },
  [variant('24', TRANSIENT)]: { kind: 'busy', transaction: 'rolled-back' },
  '46': { kind: 'busy', transaction: 'rolled-back' },
  '11000': { kind: 'unique-violation', transaction: 'rolled-back' },
  // A time limit of the whole operation, as `statement_timeout` elsewhere: it tells nothing about a lock.
  '50': cancelled,
  '262': cancelled,
  '11601': cancelled,
  MongoOperationTimeoutError: { kind: 'cancelled', transaction: 'unknown' },
  // The server cannot be reached, is going down, or is no longer the primary.
  '6': lost,
  '7': lost,
  '89': lost,
  '91': lost,
  '189': lost,
  '9001': lost,
  '10107': lost,
  '11600': lost,
  '11602': lost,
  '13435': lost,
  '13436': lost,
  // The driver has refused the call, and the server has not heard of it.
  MongoTransactionError: { kind: 'other', transaction: 'open' },
  MongoInvalidArgumentError: { kind: 'other', transaction: 'open' },
  MongoNetworkError: lost,
  MongoNetworkTimeoutError: lost,
  MongoServerSelectionError: lost,
  MongoPoolClearedError: lost,
  PoolClearedOnNetworkError: lost,
  MongoPoolClosedError: lost,
  MongoServerClosedError: lost,
  MongoTopologyClosedError: lost,
  MongoNotConnectedError: lost,
  MongoClientClosedError: lost,
}

export const errors: ErrorTable = { codeOf, codes, otherwise: 'rolled-back' }

function codeOf(error: ErrorLike): string | undefined {
  const { name, code } = error
  if (typeof name !== 'string' || !/^(?:Mongo(?!ose)|PoolCleared)/.test(name)) return undefined
  const labels = Array.isArray(error.errorLabels) ? error.errorLabels : []
  if (labels.includes(UNKNOWN_COMMIT)) return UNKNOWN_COMMIT
  const key = typeof code === 'number' || typeof code === 'string' ? String(code) : name
  if (!labels.includes(TRANSIENT)) return key
  const transient = variant(key, TRANSIENT)
  if (Object.hasOwn(codes, transient)) return transient
  return Object.hasOwn(codes, key) ? key : TRANSIENT
}
