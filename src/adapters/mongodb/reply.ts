import type { ErrorLike } from '../../core/classification.ts'
import type { Row } from '../../core/statement.ts'
import type { MongodbDatabase } from './driver.ts'

/** A write that failed, out of a reply that says `ok: 1`: only the driver's own methods throw for those. */
class MongodbWriteError extends Error {
  override readonly name = 'MongodbWriteError'
  /** The server's code. */
  readonly code: number
  readonly errorLabels: readonly string[]

  constructor({ code, errmsg }: WriteError, labels: unknown) {
    super(errmsg)
    this.code = code
    this.errorLabels = Array.isArray(labels) ? labels : []
  }
}

interface WriteError {
  readonly code: number
  readonly errmsg: string
}

/** The first write that failed, or that was made but not by as many members as were asked for. */
function writeErrorIn(reply: Row): MongodbWriteError | undefined {
  const { writeErrors, writeConcernError, errorLabels } = reply
  const failed = Array.isArray(writeErrors) ? (writeErrors[0] as WriteError | undefined) : undefined
  const first = failed ?? (writeConcernError as WriteError | undefined)
  return first === undefined ? undefined : new MongodbWriteError(first, errorLabels)
}

/** Why a transaction was not committed although no server has refused it. It is not stored, and can be run again. */
export class MongodbRepeatError extends Error {
  override readonly name = 'MongodbRepeatError'
  readonly errorLabels: readonly string[] = ['TransientTransactionError']
}

export function unanswered(): MongodbRepeatError {
  return new MongodbRepeatError('an operation of the transaction was not answered')
}

/** It is run again in a way that needs no counting. */
export function miscounted(): MongodbRepeatError {
  return new MongodbRepeatError('the driver does not say which operations of the transaction are under way')
}

/** The server refuses all but one of them, and goes on with the transaction. */
export function begunTwice(): MongodbRepeatError {
  return new MongodbRepeatError('several operations were the first of the transaction')
}

/** Two operations were sent as the first of one transaction. It is the one loss that the server does not label. */
const CONFLICTING_OPERATION = 117

/**
 * Whether the driver says of an error that a transaction has lost. What no server has answered is told by its class
 * only, since a server that cannot be found has no label.
 */
export function isLoss(error: ErrorLike): boolean {
  const { name, code, errorLabels } = error
  if (typeof name !== 'string' || !/^(?:Mongo|PoolCleared)/.test(name)) return false
  const isLabelled = Array.isArray(errorLabels) && errorLabels.includes('TransientTransactionError')
  return isLabelled || typeof code !== 'number' || code === CONFLICTING_OPERATION
}

/** What the driver has refused by itself: the server has not heard of it, and the transaction is as good as before. */
const refusals: ReadonlySet<unknown> = new Set([
  'MongoTransactionError',
  'MongoInvalidArgumentError',
  'BSONError',
])

export function isOfDriverOnly(error: unknown): boolean {
  return error instanceof Error && refusals.has(error.name)
}

/** The rows that a command answers with: documents where it finds some, otherwise the reply itself. */
export async function rowsOf<S>(
  database: MongodbDatabase<S>,
  command: Row,
  session: S,
): Promise<readonly Row[]> {
  if ('find' in command || 'aggregate' in command)
    return database.runCursorCommand(command, { session }).toArray()
  const reply = await database.command(command, { session })
  const error = writeErrorIn(reply)
  if (error !== undefined) throw error
  if (!('findAndModify' in command)) return [reply]
  return reply.value === null || reply.value === undefined ? [] : [reply.value as Row]
}
