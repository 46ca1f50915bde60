import type { ErrorLike } from '../../core/classification.ts'
import { classifyFor } from '../../core/classify.ts'
import { isRetryable, type ErrorKind } from '../../core/error-kind.ts'
import { LockError, RetryableTransactionError } from '../../core/errors.ts'
import { quietly, unwrap } from '../../core/unwrap.ts'
import { LockContention } from '../contention.ts'
import type { OpenTransaction } from '../port.ts'

/** Carries an error out of an attempt that is the work's own, whatever it looks like: it is thrown as it is. */
export class WorkError extends Error {
  readonly thrown: unknown
  /** What is a reason to run all of it again: by what the database had ended the transaction, or what is its `cause`. */
  readonly lostBy: unknown

  constructor(thrown: unknown, lostBy: unknown) {
    super('the work has failed')
    this.thrown = thrown
    this.lostBy = lostBy
  }
}

/**
 * What an attempt ends with whose work has thrown: what it has thrown, or that in a {@link WorkError}.
 *
 * Work that catches a deadlock and throws an error of its own, without a `cause`, has seen what was rolled back. It is run
 * again, and gives the same error in a transaction that is whole if it has nothing to do with the deadlock. With the
 * deadlock as its `cause` it is run again because of that, and in the end gives the same error as well.
 *
 * Never throws, whatever the error makes of being read: the transaction is still to be rolled back.
 */
export function failureOfWork(open: OpenTransaction<unknown>, error: unknown): unknown {
  return (quietly(() => ({ failure: readWork(open, error) })) ?? { failure: error }).failure
}

function readWork(open: OpenTransaction<unknown>, error: unknown): unknown {
  const isForeign = !isOfTransaction(open, error)
  const { kind } = classifyFor(error, open.dialect)
  const lostBy = lostBefore(open)
  // in a transaction that was lost before, a row that is there already is a failure like any other
  const isPlain = kind === 'other' || (kind === 'unique-violation' && lostBy !== undefined)
  if (!isForeign && !isPlain) return isMadeByWork(open, error) ? new WorkError(error, error) : error
  return isForeign || lostBy !== undefined ? new WorkError(error, lostBy) : error
}

/**
 * Whether it is Drizzle's: the only library whose errors say nothing without their `cause`. Its class has no name where an
 * application is bundled, and another's error may have a field `query` as well; its words are its own.
 */
function isOfDrizzle(error: Error & { readonly query?: unknown }): boolean {
  return 'params' in error && error.message.startsWith(`Failed query: ${String(error.query)}`)
}

/** Whether the work has put an error of its own around one that means something: without its `cause` it says nothing. */
function isMadeByWork(
  { session, dialect, refusals = [] }: OpenTransaction<unknown>,
  error: unknown,
): boolean {
  if (!(error instanceof Error) || error instanceof LockError) return false
  const isTold = [...(session.witness?.failures ?? []), ...refusals].includes(error)
  if (isTold || quietly(() => isOfDrizzle(error)) === true) return false
  const { kind, code } = classifyFor(Object.create(error, { cause: { value: undefined } }), dialect)
  return kind === 'other' && code === undefined
}

function lostBefore({ session, dialect, doom }: OpenTransaction<unknown>): unknown {
  const held = doom?.why instanceof LockContention ? doom.why : undefined
  const ending = session.witness?.ending
  if (ending === undefined) return held
  const { kind, transaction } = classifyFor(ending, dialect)
  return isRetryable(kind) && transaction !== 'open' ? ending : held
}

/** Errors that another call of Holdfast's has ended with. It has done what could be done about them. */
const spent = new WeakSet<object>()

/** Notes that a call ends with this error, and throws it. */
export function throwSpent(error: unknown): never {
  if (typeof error === 'object' && error !== null) spent.add(error)
  throw error
}

/**
 * Whether an error that the work has thrown comes from its transaction, as far as can be told: a lost connection to
 * somebody else, or a deadlock in another database, has the same codes.
 *
 * Libraries wrap errors, and some make new ones. So besides the errors that the session has seen, one of a kind that it
 * has seen counts as well.
 */
function isOfTransaction(open: OpenTransaction<unknown>, error: unknown): boolean {
  const { session, dialect, refusals = [] } = open
  const { kind } = classifyFor(error, dialect)
  if (kind === 'other' || session.witness === undefined) return true
  const { failures, isLoss = neverLoss } = session.witness
  const seen = [...failures, ...refusals]
  const isSeen = unwrap(error).some(
    ({ error: layer }) => seen.includes(layer) || quietly(() => isLoss(layer) || isAskedFor(layer)) === true,
  )
  if (isSeen || (kind === 'connection-lost' && isLost(open))) return true
  return seen.some((one) => isAlike(kind, classifyFor(one, dialect).kind))
}

/**
 * The error by which it is known that the connection has broken, before COMMIT is sent: then nothing is stored, and there
 * is nothing to find out. Undefined where it is not known.
 */
export function lossOf({ session, dialect }: OpenTransaction<unknown>): Error | undefined {
  const why = session.whyLost?.() ?? session.witness?.ending
  return why instanceof Error && classifyFor(why, dialect).kind === 'connection-lost' ? why : undefined
}

function neverLoss(): boolean {
  return false
}

/** The work may ask for another attempt itself, with an error of our own class. */
function isAskedFor(error: ErrorLike): boolean {
  return error instanceof RetryableTransactionError && !spent.has(error)
}

function isLost({ session }: OpenTransaction<unknown>): boolean {
  let isTold = false
  const stop = session.onLost?.(() => {
    isTold = true
  })
  stop?.()
  return isTold
}

/** A library may have one code for all that is worth another attempt. */
function isAlike(kind: ErrorKind, other: ErrorKind): boolean {
  return kind === other || (isRetryable(kind) && isRetryable(other))
}
