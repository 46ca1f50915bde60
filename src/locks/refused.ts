import { performance } from '../core/clock.ts'
import {
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
  type RefusedLock,
} from '../core/errors.ts'
import type { LockKey } from '../core/key.ts'
import type { LockMode, TableName, Wait } from '../core/request.ts'
import { NoAnswerError } from './limit.ts'
import type { Whence } from './event-place.ts'
import type { OpenTransaction } from './port.ts'

/** A lock that a call asked for, and since when it waits. */
export interface Asked {
  /** As in `lock ["report",7]`. */
  readonly label: string
  readonly key?: LockKey | readonly LockKey[]
  readonly table?: TableName
  readonly mode?: LockMode | undefined
  readonly wait?: Wait | undefined
  /** The option that sets the time of `wait`, if it is another one. */
  readonly limit?: string | undefined
  /** The limit of the transaction for every lock that has none of its own. */
  readonly lockTimeoutMs?: number | undefined
  /** The limit of the whole call. */
  readonly budgetMs?: number | undefined
  /** What was left of that when the server was told. @default all of it */
  readonly leftMs?: number | undefined
  readonly dialect?: string
  /** Why it is not to be had now. @default 'another holder has it' */
  readonly because?: string
  /** On the monotonic clock. */
  readonly began: number
}

/** What a caller has asked for. */
export type LockNoun = 'lock' | 'lease' | 'permit of semaphore' | 'shared lock'

/** The locks as people call them, in an error or a warning. */
export function labelOf(noun: LockNoun, ...keys: readonly LockKey[]): string {
  const names = keys.map(textOfKey).join(', ')
  return `${keys.length > 1 ? `${noun}s` : noun} ${names}`
}

export function textOfKey(key: LockKey): string {
  return JSON.stringify(key, bigintsAsText)
}

export function labelOfRows(table: TableName | undefined): string {
  if (table === undefined) return 'row lock'
  return `row lock on ${JSON.stringify(typeof table === 'string' ? table : table.join('.'))}`
}

function bigintsAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}

export function notAvailable(asked: Asked, cause?: unknown): LockNotAvailableError {
  return new LockNotAvailableError(
    `${asked.label} not acquired: ${asked.because ?? 'another holder has it'}`,
    fieldsOf(asked, cause),
  )
}

export function notInTime(asked: Asked, cause?: unknown): LockTimeoutError {
  const fields = fieldsOf(asked, cause)
  const { timeoutMs, limit } = limitIn(asked, fields.waitedMs)
  return new LockTimeoutError(`${asked.label} not acquired within ${limit}${reasonIn(cause, timeoutMs)}`, {
    ...fields,
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}

/** A timer may end a wait that much too early. */
const timerMs = 10

/** The one that ended the wait: it had come to its end. The server may have a lower one of its own. */
function limitIn(
  { wait, limit, lockTimeoutMs, budgetMs, leftMs = budgetMs }: Asked,
  waitedMs = 0,
): { readonly timeoutMs?: number; readonly limit: string } {
  const isOwn = typeof wait === 'object'
  const timeoutMs = isOwn ? wait.timeoutMs : lockTimeoutMs
  if (budgetMs !== undefined && leftMs !== undefined && waitedMs >= leftMs - timerMs)
    return { timeoutMs: budgetMs, limit: `${budgetMs} ms (budgetMs)` }
  if (timeoutMs === undefined) return { limit: "the server's own limit" }
  const which = isOwn ? limit : 'lockTimeoutMs'
  return { timeoutMs, limit: `${timeoutMs} ms${which === undefined ? '' : ` (${which})`}` }
}

/** The same, with the name of the dialect where the port knows it by now. */
export function askedOn({ server }: Pick<Whence, 'server'>, asked: Asked): Asked {
  const dialect = asked.dialect ?? server.dialect?.()
  return dialect === undefined ? asked : { ...asked, dialect }
}

/** What the lock is called, put on an error that says only that a lock was refused. Gives back every other error. */
export function naming(error: unknown, asked: Asked): unknown {
  if (error instanceof LockTimeoutError)
    return isNamed(error) ? error : notInTime(withDialect(asked, error), beneath(error))
  if (error instanceof LockNotAvailableError)
    return isNamed(error) ? error : notAvailable(withDialect(asked, error), beneath(error))
  return error
}

function isNamed({ key, table }: RefusedLock): boolean {
  return key !== undefined || table !== undefined
}

function withDialect(asked: Asked, { dialect }: RefusedLock): Asked {
  return dialect === undefined ? asked : { ...asked, dialect }
}

/** The driver's own error, where there is one: what was between said less than the new one does. */
function beneath(error: LockTimeoutError | LockNotAvailableError): unknown {
  return error instanceof NoAnswerError ? error : error.cause
}

/** Where it is not that another holds the lock: no connection, or a server that is silent beyond the time it was given. */
function reasonIn(cause: unknown, limitMs = 0): string {
  const isSilent = cause instanceof NoAnswerError && cause.afterMs > limitMs
  const isTold = cause instanceof LockUsageError || cause instanceof RetryableTransactionError
  return isSilent || isTold ? `: ${cause.message}` : ''
}

function fieldsOf(asked: Asked, cause: unknown): ErrorOptions & RefusedLock {
  const { key, table, mode, dialect, wait, began } = asked
  return {
    ...(cause !== undefined && { cause }),
    ...(key !== undefined && { key }),
    ...(table !== undefined && { table }),
    ...(mode !== undefined && { mode }),
    ...(dialect !== undefined && { dialect }),
    ...(typeof wait === 'object' && { timeoutMs: wait.timeoutMs }),
    waitedMs: performance.now() - began,
  }
}

/** With the limits of the whole call. */
export function limitedBy(
  { lockTimeoutMs, budgetMs }: Pick<Asked, 'lockTimeoutMs' | 'budgetMs'>,
  asked: Asked,
): Asked {
  return { ...asked, lockTimeoutMs, budgetMs }
}

/** With those of the transaction that is under way, where the lock has none of its own. */
export function limitedIn(
  { limit, dialect }: Pick<OpenTransaction<unknown>, 'limit' | 'dialect'>,
  asked: Asked,
): Asked {
  const named = { ...asked, dialect: dialect.name }
  return typeof asked.wait === 'object' ? named : { ...limitedBy(limit, named), leftMs: limit.ms }
}
