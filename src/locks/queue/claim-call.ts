import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { isRetryable } from '../../core/error-kind.ts'
import { LockError, LockUsageError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { Row, Statement } from '../../core/statement.ts'
import type { Counted } from '../../dialects/claim.ts'
import { untilAborted } from '../abort.ts'
import { readFailure, type Failure } from '../failure.ts'
import { takeTurn } from '../lane.ts'
import type { Port, Server } from '../port.ts'
import type { Queue } from './queue-definition.ts'
import { columnsOf } from './queue.ts'
import { sessionEnd } from '../session-end.ts'

/** How long a call that loses against others is repeated. */
const patienceMs = 20_000

/** One call about a queue. */
export interface ClaimCall<T> {
  readonly queue: Queue<object>
  readonly signal?: AbortSignal | undefined
  readonly work: (visit: ClaimVisit) => Promise<T>
}

/** A session for the length of one call. */
export interface ClaimVisit extends Server {
  readonly session: Session
}

/**
 * Runs the work of one call on a session of its own, and again when it lost against others: each of its statements
 * stands alone, so one that was refused has changed nothing.
 */
export async function callQueue<Tx, T>(port: Port<Tx>, call: ClaimCall<T>): Promise<T> {
  const deadline = deadlineIn(patienceMs)
  for (let loss = 1; ; loss += 1) {
    call.signal?.throwIfAborted()
    const outcome = await visit(port, call, deadline)
    if ('result' in outcome) return outcome.result
    const { kind, error } = outcome.failure
    call.signal?.throwIfAborted()
    if (!isRetryable(kind) || deadline.isPast()) throw error
    // whoever writes to an embedded database does so for milliseconds, and nobody is woken when it is free
    await pause(backoffMs(loss, { baseMs: 10, capMs: kind === 'busy' ? 10 : 200 }), deadline, call.signal)
  }
}

type Outcome<T> = { readonly result: T } | { readonly failure: Failure }

async function visit<Tx, T>(port: Port<Tx>, call: ClaimCall<T>, deadline: Deadline): Promise<Outcome<T>> {
  const { lane } = port.sessions
  const endTurn = lane && (await takeTurn(lane(), { deadline, signal: call.signal }))
  try {
    return await inSession(port, call)
  } finally {
    endTurn?.()
  }
}

async function inSession<Tx, T>(port: Port<Tx>, { queue, signal, work }: ClaimCall<T>): Promise<Outcome<T>> {
  const opening = port.sessions.open()
  const giveBack = async (): Promise<void> => (await opening).release()
  const session = await untilAborted(opening, signal, () => void giveBack().catch(() => {}))
  const { doubt, end } = sessionEnd(session)
  let server: Server | undefined
  try {
    const known = (server = await port.server(session))
    const result = await untilAborted(work({ ...known, session }), signal, () => doubt(signal?.reason))
    return { result }
  } catch (error) {
    const failure = readFailure(error, server?.dialect ?? [])
    // a setting for the next statement may be left on a session whose statement was never run
    const isOwn = error instanceof LockError
    if (failure.transaction === 'unknown' || !(isOwn || isRetryable(failure.kind))) doubt(error)
    return { failure: { ...failure, error: misfit(failure, queue, server) ?? failure.error } }
  } finally {
    await end()
  }
}

/** The server says that the table is not as the queue describes it. */
function misfit(
  { code = '', original }: Failure,
  queue: Queue<object>,
  server: Server | undefined,
): LockUsageError | undefined {
  if (server?.dialect.claim.misfits.includes(code) !== true) return undefined
  const { table } = queue.shape
  const name = typeof table === 'string' ? table : table.join('.')
  const words = original instanceof Error ? original.message.split('\n', 1)[0] : String(original)
  return new LockUsageError(
    'queue',
    `the table ${name} must have the columns ${columnsOf(queue).join(', ')}; the server says: ${words}`,
    { cause: original },
  )
}

/** Sends one after another; the rows of the last one. */
async function sendAll(session: Session, statements: readonly Statement[]): Promise<readonly Row[]> {
  let rows: readonly Row[] = []
  for (const statement of statements) rows = await session.run(statement)
  return rows
}

/** How many rows the statements have changed. */
export async function sendCounted(session: Session, { statements, count }: Counted): Promise<number> {
  return count(await sendAll(session, statements))
}
