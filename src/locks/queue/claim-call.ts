import { performance } from '../../core/clock.ts'
import { inWords } from '../../core/in-words.ts'
import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { isRetryable } from '../../core/error-kind.ts'
import { LockError, LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import { graceMs } from '../../core/grace.ts'
import type { Session } from '../../core/session.ts'
import type { ClaimStatements, Counted } from '../../dialects/claim.ts'
import { readFailure, type Failure } from '../failure.ts'
import { takeTurn } from '../lane.ts'
import { NoAnswerError, within, type LimitTerms } from '../limit.ts'
import { openSession } from '../open-session.ts'
import type { Port, Server } from '../port.ts'
import { askedOn, notInTime } from '../refused.ts'
import type { Queue } from './queue-definition.ts'
import { columnsOf } from './queue.ts'
import { textOfTable } from './warn.ts'
import { sessionEnd } from '../session-end.ts'
import { throwSpent } from '../transaction/own-error.ts'
import { sendTogether } from '../send-together.ts'

/** How long a call that loses against others is repeated at most. */
const patienceMs = 20_000

/** How long a pool that gives no connection is asked for one. */
const connectionPatienceMs = 30_000

/** One call about a queue. */
export interface ClaimCall<T> {
  readonly queue: Queue<object>
  /** Columns that the table needs beside those of the queue. */
  readonly columns?: readonly string[]
  readonly signal?: AbortSignal | undefined
  /** Ends the wait for a connection, but not that for an answer: what was claimed by then would be lost for a while. */
  readonly stopped?: AbortSignal | undefined
  /** For how long it is to claim jobs: what takes longer is worth nothing. */
  readonly visibilityMs?: number
  readonly work: (visit: ClaimVisit) => Promise<T>
}

/** A session for the length of one call. */
export interface ClaimVisit extends Server {
  readonly session: Session
  /** How the server's dialect does it. */
  readonly claiming: ClaimStatements
}

/**
 * Runs the work of one call on a session of its own, and again when it lost against others: each of its statements
 * stands alone, so one that was refused has changed nothing. Rejects with {@link LockTimeoutError} when its time is over.
 */
export async function callQueue<Tx, T>(port: Port<Tx>, call: ClaimCall<T>): Promise<T> {
  const late = latenessOf(port, call)
  const deadline = deadlineIn(repeatMsOf(call))
  for (let loss = 1; ; loss += 1) {
    call.signal?.throwIfAborted()
    call.stopped?.throwIfAborted()
    const outcome = await visit(port, call, { deadline, late })
    if ('result' in outcome) return outcome.result
    const { kind, error } = outcome.failure
    call.signal?.throwIfAborted()
    if (error instanceof NoAnswerError) throw late(error, answerMsOf(call))
    if (!isRetryable(kind)) throwSpent(error)
    if (deadline.isPast()) throw late(error)
    // whoever writes to an embedded database does so for milliseconds, and nobody is woken when it is free
    await pause(backoffMs(loss, { baseMs: 10, capMs: kind === 'busy' ? 10 : 200 }), deadline, call.signal)
  }
}

/** What to throw when the time is over: the queue and the limit by their names. */
type Lateness = (cause: unknown, timeoutMs?: number) => LockTimeoutError

function latenessOf<Tx>(port: Port<Tx>, call: ClaimCall<unknown>): Lateness {
  const { queue, visibilityMs } = call
  const { table } = queue.shape
  const name = JSON.stringify(textOfTable(table))
  const label = visibilityMs === undefined ? `access to the queue ${name}` : `jobs of the queue ${name}`
  const began = performance.now()
  return (cause, timeoutMs = repeatMsOf(call)) => {
    const limit = timeoutMs === visibilityMs ? 'visibilityMs' : undefined
    return notInTime(askedOn(port, { label, table, wait: { timeoutMs }, limit, began }), cause)
  }
}

type Outcome<T> = { readonly result: T } | { readonly failure: Failure }

async function visit<Tx, T>(
  port: Port<Tx>,
  call: ClaimCall<T>,
  { deadline, late }: { readonly deadline: Deadline; readonly late: Lateness },
): Promise<Outcome<T>> {
  const { lane } = port.sessions
  const signal = call.signal ?? call.stopped
  const endTurn =
    lane &&
    (await takeTurn(lane(), { deadline, signal }).catch((error: unknown) => {
      throw error instanceof LockTimeoutError && signal?.aborted !== true ? late(error) : error
    }))
  try {
    return await inSession(port, call)
  } finally {
    endTurn?.()
  }
}

async function inSession<Tx, T>(port: Port<Tx>, call: ClaimCall<T>): Promise<Outcome<T>> {
  const { signal, stopped, work } = call
  const session = await openSession(port, {
    signal: signal ?? stopped,
    patienceMs: connectionPatienceMs,
    purpose: 'for a queue',
  })
  const { doubt, end } = sessionEnd(session)
  const inTime = <R>(step: Promise<R>): Promise<R> => within(answerLimit(call), step, doubt)
  let server: Server | undefined
  let statements: ClaimStatements | undefined
  try {
    const asked = port.server(session)
    const known = (server = asked instanceof Promise ? await inTime(asked) : asked)
    const doWork = known.dialect.claim((claiming) => {
      statements = claiming
      return work({ ...known, session, claiming })
    })
    return { result: await inTime(doWork) }
  } catch (error) {
    const failure = readFailure(error, server?.dialect ?? [])
    // a setting for the next statement may be left on a session whose statement was never run
    const isOwn = error instanceof LockError
    if (failure.transaction === 'unknown' || !(isOwn || isRetryable(failure.kind))) doubt(error)
    return { failure: { ...failure, error: misfit(failure, call, statements) ?? failure.error } }
  } finally {
    await end()
  }
}

function repeatMsOf({ visibilityMs = patienceMs }: ClaimCall<unknown>): number {
  return Math.min(visibilityMs, patienceMs)
}

/** An answer that takes longer than the claim lasts is worth nothing. */
function answerMsOf({ queue, visibilityMs }: ClaimCall<unknown>): number {
  return visibilityMs ?? Math.max(queue.visibilityMs, patienceMs)
}

function answerLimit(call: ClaimCall<unknown>): LimitTerms {
  return { signal: call.signal, ms: answerMsOf(call) + graceMs }
}

/** The server says that the table is not as the queue describes it. */
function misfit(
  { code = '', original }: Failure,
  { queue, columns = [] }: ClaimCall<unknown>,
  statements: ClaimStatements | undefined,
): LockUsageError | undefined {
  if (statements?.misfits.includes(code) !== true) return undefined
  const needed = new Set([...columnsOf(queue), ...columns])
  const words = original instanceof Error ? original.message.split('\n', 1)[0] : inWords(original)
  return new LockUsageError(
    'queue',
    `the table ${textOfTable(queue.shape.table)} must have the columns ${[...needed].join(', ')}, of types that fit; the server says: ${words}`,
    { cause: original },
  )
}

/** How many rows the statements have changed. */
export async function sendCounted(session: Session, { statements, count }: Counted): Promise<number> {
  return count(await sendTogether(session, statements))
}
