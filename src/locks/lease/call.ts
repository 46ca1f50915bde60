import { delay, performance } from '../../core/clock.ts'
import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import type { ErrorKind } from '../../core/error-kind.ts'
import { LockTimeoutError, RetryableTransactionError } from '../../core/errors.ts'
import { readAnswer, type Answer, type Row, type Statement } from '../../core/statement.ts'
import type { LeaseCommands, LeaseKeeper } from '../../dialects/lease.ts'
import { untilAborted, type Abortable } from '../abort.ts'
import { readFailure } from '../failure.ts'
import { takeTurn } from '../lane.ts'
import { NoConnectionError, openSession } from '../open-session.ts'
import type { LeasePort, LeaseServer, LeaseSession } from '../port.ts'
import { sessionEnd } from '../session-end.ts'

/** One request of the lease algorithm to the server. */
export interface LeaseCall {
  readonly statements: (lease: LeaseCommands) => readonly Statement[]
  /** When nobody waits for the answer any longer. */
  readonly signal: Abortable
  /** Until when others of this process are waited for, where one at a time can write. @default as long as for the answer */
  readonly turnBy?: Deadline
  /** Told the moment before the request leaves. */
  readonly onSend?: (sentAt: number) => void
  /**
   * What becomes of a request that is under way when the signal aborts; its session ends once this has resolved.
   *
   * @default its session is destroyed
   */
  readonly onLate?: (late: LateCall) => Promise<void>
}

export interface LateCall {
  readonly reply: Promise<Reply>
  readonly doubt: (why: unknown) => void
}

/** Lets a late request end by itself, and gives its reply; undefined when even that took too long. */
export async function patiently({ reply, doubt }: LateCall): Promise<Reply | undefined> {
  const late = await Promise.race([reply, delay(latePatienceMs, undefined, { ref: false })])
  if (late === undefined) doubt(new Error(`no answer in ${latePatienceMs} ms more`))
  return late
}

const latePatienceMs = 5000

export type Reply = Answered | Failed

export interface Answered {
  readonly answer: Answer
  readonly row: Row | undefined
  readonly rows: readonly Row[]
  /** On the monotonic clock. */
  readonly sentAt: number
  readonly dialect: LeaseKeeper
}

export interface Failed {
  /** As the caller is to see it. */
  readonly error: unknown
  readonly kind: ErrorKind
  /** Of the server that refused; undefined where none has been asked. */
  readonly dialect: LeaseKeeper | undefined
  /** Whether the server may have done what it was asked for all the same. */
  readonly mayBeDone: boolean
}

export function isAnswered(reply: Reply): reply is Answered {
  return 'answer' in reply
}

/** Sends a list of statements on a session of its own, which goes back at once. Never rejects. */
export async function callLease(port: LeasePort, call: LeaseCall): Promise<Reply> {
  let visit: Visit | undefined
  try {
    visit = await enter(port, call)
    const { session, doubt } = visit
    const known = port.server(session)
    const server =
      known instanceof Promise
        ? await untilAborted(known, call.signal, () => doubt(call.signal.reason))
        : known
    const reply = await send(visit, server, call)
    const left = visit.leave()
    if (left !== undefined) await left
    return reply
  } catch (error) {
    visit?.doubt(error)
    void visit?.leave()
    return failed(error)
  }
}

/** A session, in the caller's turn where only one can write at a time. */
interface Visit {
  readonly session: LeaseSession
  readonly doubt: (why: unknown) => void
  /** Waits for nothing when the session has to be destroyed: that may take as long as the server is silent. */
  readonly leave: () => Promise<void> | undefined
  /** Leaves only after `work`, for which nobody waits. */
  readonly leaveAfter: (work: Promise<void>) => void
}

async function enter(
  port: LeasePort,
  { signal, turnBy = deadlineIn() }: Pick<LeaseCall, 'signal' | 'turnBy'>,
): Promise<Visit> {
  const { lane } = port.sessions
  const began = performance.now()
  let endTurn: (() => void) | undefined
  try {
    if (lane !== undefined) endTurn = await takeTurn(lane(), { deadline: turnBy, signal })
    return visitOf(await openSession(port, { signal, purpose }), endTurn)
  } catch (error) {
    endTurn?.()
    if (!(error instanceof LockTimeoutError)) throw error
    // who has not had its turn waits for a writer of its own process, and not for the pool
    if (lane !== undefined && endTurn === undefined) throw busyDatabase(error)
    if (error !== signal.reason) throw error
    throw withoutConnection(performance.now() - began)
  }
}

const purpose = 'for a lease'

export function withoutConnection(afterMs: number): NoConnectionError {
  return new NoConnectionError(purpose, afterMs)
}

function busyDatabase(cause: Error): RetryableTransactionError {
  const message = "another transaction of this process, perhaps the caller's own, has its connection to write"
  return new RetryableTransactionError('busy', message, { cause })
}

function visitOf(session: LeaseSession, endTurn: (() => void) | undefined): Visit {
  const { doubt, end, isInDoubt } = sessionEnd(session)
  let isLate = false
  const finish = (): Promise<void> | undefined => {
    const ended = end()
    if (ended !== undefined) return ended.then(endTurn)
    endTurn?.()
    return undefined
  }
  return {
    session,
    doubt,
    leave: () => {
      const finished = isLate ? undefined : finish()
      return isInDoubt() ? undefined : finished
    },
    leaveAfter: (work) => {
      isLate = true
      void work.catch(doubt).then(finish)
    },
  }
}

async function send(visit: Visit, server: LeaseServer, call: LeaseCall): Promise<Reply> {
  const { signal, onSend, onLate } = call
  const statements = call.statements(server.dialect.lease)
  const sentAt = performance.now()
  onSend?.(sentAt)
  const running = runAll(visit, server, { statements, sentAt })
  try {
    return await untilAborted(running, signal, () => {
      if (onLate === undefined) visit.doubt(signal.reason)
      else visit.leaveAfter(onLate({ reply: running, doubt: visit.doubt }))
    })
  } catch (error) {
    return { ...failed(error), mayBeDone: true }
  }
}

interface Request {
  readonly statements: readonly Statement[]
  readonly sentAt: number
}

async function runAll(visit: Visit, { dialect }: LeaseServer, request: Request): Promise<Reply> {
  const { statements, sentAt } = request
  let done = 0
  let answer: Answer = 'failed'
  let rows: readonly Row[] = []
  try {
    for (const statement of statements) {
      rows = await visit.session.run(statement)
      done += 1
      answer = statement.answers === undefined ? 'failed' : readAnswer(statement.answers, rows)
    }
    return { answer, row: rows[0], rows, sentAt, dialect }
  } catch (error) {
    const failure = readFailure(error, dialect)
    if (failure.transaction === 'unknown') visit.doubt(error)
    const isUnknown = failure.transaction === 'unknown' || failure.kind === 'connection-lost'
    // of a list, each statement counts as soon as it has run
    return { error: failure.error, kind: failure.kind, dialect, mayBeDone: isUnknown || done > 0 }
  }
}

/** Of an error that no server has answered with. */
function failed(error: unknown): Failed {
  return { error, kind: readFailure(error, []).kind, dialect: undefined, mayBeDone: false }
}
