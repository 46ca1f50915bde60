import { backoffMs } from '../../core/backoff.ts'
import { checkWork } from '../../core/check-field.ts'
import { performance } from '../../core/clock.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { isRetryable, type ErrorKind } from '../../core/error-kind.ts'
import {
  CommitOutcomeUnknownError,
  LockError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
} from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { TransactionEvent } from '../../events/shapes.ts'
import { areTransactionsHeard, tellRetry, tellTransaction } from '../../events/transaction-story.ts'
import { untilAborted } from '../abort.ts'
import { attempt } from './attempt.ts'
import { LockContention } from '../contention.ts'
import { withDeadlock } from '../deadlocks/lost.ts'
import { placeOf } from '../event-place.ts'
import { readFailure, type Failure } from '../failure.ts'
import { waitDeadline } from '../named/opening.ts'
import { NoConnectionError } from '../open-session.ts'
import type { Job } from './job.ts'
import { checkPart } from './join.ts'
import { checkTransaction, type TransactionOptions } from './options.ts'
import { throwSpent, WorkError } from './own-error.ts'
import { stepsOf } from './part.ts'
import type { OpenTransaction, Port } from '../port.ts'
import type { Scope } from './scope.ts'
import type { PlanTable } from '../table/port.ts'

/** Everything that the transactions of one `locks` object have in common. */
export interface Transactions<Tx> {
  readonly port: Port<Tx>
  readonly scope: Scope<Tx>
  /** What the server may be: enough to read the error of a connection that could not even be opened. */
  readonly candidates: readonly Dialect[]
  readonly planTable: PlanTable
}

/** Runs `work` in a transaction of its own, or, where that is asked for, as a part of the one that is open. */
export function runTransaction<Tx, T>(
  { port, scope, candidates, planTable }: Transactions<Tx>,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  try {
    checkWork(work)
    const checked = checkTransaction(options)
    const outer = scope.current()
    return outer === undefined
      ? runOutermost({ port, scope, candidates, planTable, work, options: checked, opening: undefined })
      : join(work, outer, checked)
  } catch (error) {
    return failWith(error)
  }
}

/**
 * Runs the work in a transaction, and all of it again when the transaction lost against another. Only the outermost
 * one is repeated: repeating a part would keep the locks that led to the conflict.
 */
export function runOutermost<Tx, T>(call: Job<Tx, T>): Promise<T> {
  // what few transactions ask for is loaded when one does
  if (call.options.tables !== undefined && call.tables === undefined) {
    const began = performance.now()
    return import('../table/opening.ts').then(({ runWithTables }) => runWithTables(call, began, runOutermost))
  }
  if (!areTransactionsHeard()) return runUntilStored(call)
  const event = eventOf(call)
  for (const story of call.opening?.stories ?? []) story.note({ transaction: event })
  for (const story of call.tables?.stories ?? []) story.note({ transaction: event })
  return tellTransaction(event, call.candidates, () => runUntilStored({ ...call, event }))
}

function eventOf<Tx, T>({ port, opening, options }: Job<Tx, T>): TransactionEvent {
  return {
    ...placeOf(port),
    keys: opening?.names.map(({ key }) => key) ?? [],
    isolation: options.isolation,
    access: options.access ?? 'read-write',
    attempts: 0,
  }
}

function runUntilStored<Tx, T>(call: Job<Tx, T>): Promise<T> {
  const { signal, budgetMs, attempts } = call.options
  if (signal?.aborted === true) return failWith(signal.reason)
  const deadline = call.budget ?? deadlineIn(budgetMs)
  const job = call.budget === undefined && budgetMs !== undefined ? { ...call, budget: deadline } : call
  const failed = (error: unknown): never => throwSpent(coded(withDeadlock(error), call.port.sessions))
  return attempt(attempts === 1 ? lastOf(job) : job).catch((error: unknown) =>
    runAgain(job, error, deadline).catch(failed),
  )
}

function lastOf<Tx, T>(job: Job<Tx, T>): Job<Tx, T> {
  return { ...job, isLast: true }
}

/** With the code that existing `catch` blocks around such a client look for. */
function coded(error: unknown, { retryableCode }: Pick<Sessions, 'retryableCode'>): unknown {
  if (retryableCode === undefined || !(error instanceof RetryableTransactionError)) return error
  return Object.assign(error, { code: retryableCode })
}

async function runAgain<Tx, T>(job: Job<Tx, T>, reason: unknown, deadline: Deadline): Promise<T> {
  const { options, candidates } = job
  const state: Progress = { attempt: 1, deadline, contention: undefined, waits: 0, event: job.event }
  let error = reason
  for (;;) {
    // an abort does not change that nobody knows what is stored
    if (error instanceof CommitOutcomeUnknownError) throw error
    options.signal?.throwIfAborted()
    const failure =
      error instanceof WorkError ? ofWork(error, candidates) : readFailure(error, candidates, options)
    await beforeRetry(failure, state, options)
    options.signal?.throwIfAborted()
    if (!(failure.error instanceof LockContention)) waitAnew(job, state)
    try {
      return await attempt(state.attempt >= mostAttempts(options) ? lastOf(job) : job)
    } catch (next) {
      error = waitsStill(failure, next, options) ? failure.error : next
    }
  }
}

/**
 * Whether the budget left no time for a connection to somebody who waits for a lock by repeating the transaction: it ends
 * that wait. Without a budget nothing would.
 */
function waitsStill({ error: held }: Failure, next: unknown, { budgetMs }: TransactionOptions): boolean {
  const isWithoutConnection = next instanceof LockTimeoutError && next.cause instanceof NoConnectionError
  return isWithoutConnection && budgetMs !== undefined && held instanceof LockContention && held.isHeld
}

/** Whatever it is a reason for, the caller sees what the work has thrown. */
function ofWork({ thrown, lostBy }: WorkError, candidates: readonly Dialect[]): Failure {
  if (lostBy === undefined) throw thrown
  return { ...readFailure(lostBy, candidates), error: thrown, isOwn: true }
}

/** The work had its locks: the time that it took is none that the next attempt has waited. */
function waitAnew<Tx, T>({ opening, tables }: Job<Tx, T>, state: Progress): void {
  tables?.waitAnew()
  if (opening !== undefined) {
    opening.deadline = waitDeadline(opening.lock)
    opening.turnMs = 0
  }
  state.contention = undefined
  state.waits = 0
}

interface Progress {
  attempt: number
  readonly deadline: Deadline
  /** Since when, and until when, the same lock has been waited for by repeating the transaction. */
  contention: Deadline | undefined
  waits: number
  readonly event: TransactionEvent | undefined
}

/** As a promise, of which whoever calls makes use: an async function around another one costs a round of its own. */
export async function failWith(error: unknown): Promise<never> {
  throw error
}

async function join<Tx, T>(
  work: (tx: Tx) => Promise<T>,
  outer: OpenTransaction<Tx>,
  options: TransactionOptions,
): Promise<T> {
  if (options.nested === 'join') {
    return stepsOf(outer, async () => {
      await checkPart(outer, options)
      return work(outer.session.tx)
    })
  }
  throw new LockUsageError(
    'nested',
    "a transaction is already open in this call chain: use its tx, or pass nested: 'join' to become part of it",
  )
}

/** Pauses, or throws when this failure is not worth another attempt. */
async function beforeRetry(failure: Failure, state: Progress, options: TransactionOptions): Promise<void> {
  const pauseMs =
    failure.error instanceof LockContention
      ? pauseForLock(failure.error, state, options)
      : pauseAfterLoss(failure, state, options)
  if (pauseMs >= state.deadline.remainingMs()) throw await outOfTime(failure, state, options)
  const { kind, error } = failure
  if (options.onRetry !== undefined) {
    const told = Promise.resolve(options.onRetry({ attempt: state.attempt, kind, error, pauseMs }))
    await untilAborted(told, options.signal, () => {})
  }
  if (state.event !== undefined) tellRetry({ transaction: state.event, error, errorKind: kind, pauseMs })
  if (!(failure.error instanceof LockContention)) state.attempt += 1
  await pause(pauseMs, state.contention, options.signal)
}

/** Whoever waits for a lock waits until its time is over, and hears that it is. */
async function outOfTime(
  failure: Failure,
  { deadline }: Progress,
  { budgetMs, signal }: TransactionOptions,
): Promise<unknown> {
  if (!(failure.error instanceof LockContention) || budgetMs === undefined) return lastError(failure)
  await pause(deadline.remainingMs(), deadline, signal)
  return failure.error.outOf(budgetMs)
}

/** Longer each time: those who lose a lock repeat all of their work, and many who do so at once starve the holder. */
function pauseForLock(
  held: LockContention,
  state: Progress,
  { lockTimeoutMs, backoff }: TransactionOptions,
): number {
  if (!held.isHeld) return backoffMs(1, { capMs: 200, ...backoff })
  const limitMs = held.timeoutMs ?? lockTimeoutMs
  state.contention ??= deadlineIn(limitMs)
  if (state.contention.isPast()) throw held.timedOut(limitMs)
  state.waits += 1
  return backoffMs(state.waits, { capMs: 200, ...backoff })
}

function pauseAfterLoss(failure: Failure, state: Progress, options: TransactionOptions): number {
  if (state.attempt >= mostAttempts(options) || !isWorthIt(failure.kind, options)) throw lastError(failure)
  return backoffMs(state.attempt, options.backoff)
}

/** What the call ends with. Only here it is known of a lost connection that nothing is stored. */
function lastError({ kind, code, error, original, isOwn }: Failure): unknown {
  if (kind !== 'connection-lost' || error instanceof LockError || isOwn === true) return error
  const from = code === undefined ? '' : ` (${code})`
  return new RetryableTransactionError(
    kind,
    `the database was not reached, or its connection was lost, before anything was stored${from}: run it again`,
    { cause: original },
  )
}

function mostAttempts({ attempts = 5 }: TransactionOptions): number {
  return attempts
}

/** A connection that broke before COMMIT was sent has stored nothing. */
function isWorthIt(kind: ErrorKind, { alsoRetry = [] }: TransactionOptions): boolean {
  return isRetryable(kind) || kind === 'connection-lost' || alsoRetry.includes(kind)
}
