import { readable } from '../../core/in-words.ts'
import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { UnsupportedLockError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import { isUnsupported } from '../../core/support.ts'
import { unwrap } from '../../core/unwrap.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { LockTimeout } from '../../dialects/transaction.ts'
import { note } from '../../events/note.ts'
import { objectionTo } from '../../events/objection.ts'
import type { TransactionEvent } from '../../events/shapes.ts'
import { untilAborted } from '../abort.ts'
import type { Loss } from '../deadlocks/loss.ts'
import { examineDeadlock } from '../deadlocks/lost.ts'
import { beginLocked, type Begun } from './begin-locked.ts'
import { unlessRefused } from './unless-refused.ts'
import { sendCommit, settleCommit, type CommitDoubt } from './commit.ts'
import { readFailure } from '../failure.ts'
import { takeTurn } from '../lane.ts'
import { inGrace, NoAnswerError, within } from '../limit.ts'
import { beginDeadline, beginLimit, commitLimit, idleLimit, patienceOf, type Job } from './job.ts'
import { failureOfWork, lossOf, WorkError } from './own-error.ts'
import { tellEnded } from './lock-stories.ts'
import { noteStored, openTransaction } from './open-transaction.ts'
import { untilIdle } from './part.ts'
import { openSession } from '../open-session.ts'
import type { OpenTransaction, Server } from '../port.ts'
import type { Scope } from './scope.ts'
import { stopStatements, tellEnding, tellStatements } from './statement-stories.ts'
import { releaseAtEnd } from './release-at-end.ts'
import { sessionEnd } from '../session-end.ts'
import { withSetting } from '../setting.ts'

/** Runs the work once, in a transaction on a connection of its own, when it is this caller's turn. */
export function attempt<Tx, T>(job: Job<Tx, T>): Promise<T> {
  const { lane } = job.port.sessions
  const deadline = beginDeadline(job)
  return lane === undefined || job.options.access === 'read-only'
    ? inSession(job, deadline)
    : inTurn(lane(), job, deadline)
}

async function inTurn<Tx, T>(lane: string, job: Job<Tx, T>, deadline: Deadline): Promise<T> {
  const endTurn = await takeTurn(lane, { deadline, signal: job.options.signal })
  try {
    return await inSession(job, deadline)
  } finally {
    endTurn()
  }
}

/** Whatever happens, the connection goes back clean or is destroyed. */
async function inSession<Tx, T>(job: Job<Tx, T>, deadline: Deadline): Promise<T> {
  const session = await openSession(job.port, patienceOf(job))
  const ending = sessionEnd(session)
  let result: T
  try {
    const server = job.port.server(session)
    const { dialect, version } =
      server instanceof Promise ? await within(beginLimit(job), server, ending.doubt) : server
    if (job.event !== undefined) noteAttempt(job.event, dialect)
    const open = openTransaction<Tx>({ dialect, version, session, ending }, job.options, {
      deadline,
      budget: job.budget,
      event: job.event,
      adapter: job.port.sessions.adapter,
    })
    tellStatements(open)
    try {
      result = await transact(open, job)
    } catch (error) {
      const looking = examineDeadlock(open, lossIn(error, job))
      if (looking !== undefined) await looking
      throw error
    } finally {
      if (open.atEnd.length > 0) await releaseAtEnd(open, ending)
      stopStatements(open)
      tellEnded(open)
    }
  } catch (error) {
    const isUnknown = readFailure(error, job.candidates).transaction === 'unknown'
    if (isUnknown || error instanceof NoAnswerError) ending.doubt(error)
    throw error
  } finally {
    const ended = ending.end()
    if (ended !== undefined) await ended
  }
  const wanted = session.whenStored?.()
  if (wanted !== undefined) await wanted
  return result
}

function noteAttempt(event: TransactionEvent, { name, transaction }: Dialect): void {
  const isOnlyWriter = transaction.writeMode !== undefined && event.access === 'read-write'
  note(event, { attempts: event.attempts + 1, dialect: name, isOnlyWriter })
}

function lossIn<Tx, T>(error: unknown, { options, budget, isLast }: Job<Tx, T>): Loss {
  const lost = error instanceof WorkError ? { error: error.lostBy, thrown: error.thrown } : { error }
  return { ...lost, options, budget, isLast }
}

function transact<Tx, T>(open: OpenTransaction<Tx>, job: Job<Tx, T>): Promise<T> {
  const timeout = lockTimeout(open)
  return timeout !== undefined && 'setting' in timeout
    ? withSetting(open.session, timeout.setting, {
        doubt: open.doubt,
        signal: open.signal,
        bound: (change) => within(beginLimit(job), change, open.doubt),
        work: () => fromBeginToCommit(open, job, timeout),
      })
    : fromBeginToCommit(open, job, timeout)
}

async function fromBeginToCommit<Tx, T>(
  open: OpenTransaction<Tx>,
  job: Job<Tx, T>,
  timeout: LockTimeout | undefined,
): Promise<T> {
  const { session } = open
  const beginning = beginLocked(open, {
    opening: job.opening,
    tables: job.tables,
    options: job.options,
    timeout,
    whole: job.whole && { send: job.whole.send, bound: (step) => inTime(open, job, step) },
  })
  const begun = beginning instanceof Promise ? await beginInTime(open, job, beginning) : beginning
  const { course } = begun
  if (course !== undefined && job.whole !== undefined)
    return job.whole.stored(open, { course, locking: beginLimit(job), doubt: doubtOf(open, job) })
  let head = open.begun === undefined ? await inTime(open, job, begun.sent) : undefined
  let result: T
  try {
    result = await unlessAborted(open, runWork(open, job, begun))
    // what the work did not wait for is stored as a whole, and is not done in the connection's next transaction
    const idle = untilIdleInTime(open, job)
    if (idle !== undefined) await idle
    const loss = lossOf(open) ?? objectionTo(open.event)?.(false)
    if (loss !== undefined) throw loss
  } catch (error) {
    throw await rolledBack(open, open.isAtWork ? failureOfWork(open, readable(error)) : error)
  } finally {
    leave(open, job.scope)
  }
  head ??= await begun.sent
  try {
    await tellEnding(open, 'COMMIT', () => sendCommit(session, commitLimit(job)))
  } catch (error) {
    await settleCommit(error, open, doubtOf(open, job)(head[0]))
  }
  noteStored(open)
  return result
}

/** A lock may be waited for, by the beginning or by the work: only destroying the session ends that wait. */
function unlessAborted<Tx, T>({ signal, doubt }: OpenTransaction<Tx>, work: Promise<T>): Promise<T> {
  return untilAborted(work, signal, () => doubt(signal?.reason))
}

/** What belongs to the beginning: it has to be answered when the wait for the lock that comes with it is over. */
function inTime<Tx, T, R>(open: OpenTransaction<Tx>, job: Job<Tx, T>, work: Promise<R>): Promise<R> {
  return within(beginLimit(job), work, open.doubt)
}

/** What is sent as a whole is stored or not, whenever the caller has enough: its own steps have limits. */
function beginInTime<Tx, T>(
  open: OpenTransaction<Tx>,
  job: Job<Tx, T>,
  begin: Promise<Begun>,
): Promise<Begun> {
  return job.whole === undefined ? inTime(open, job, begin) : begin
}

/** A function that nobody waits for may go on for ever. */
function untilIdleInTime<Tx, T>(open: OpenTransaction<Tx>, job: Job<Tx, T>): Promise<void> | undefined {
  const idle = untilIdle(open)
  return idle && within(idleLimit(job), idle, open.doubt)
}

function lockTimeout<Tx>({ dialect, lockTimeoutMs, limit }: OpenTransaction<Tx>): LockTimeout | undefined {
  if (lockTimeoutMs === undefined) return undefined
  const timeout = dialect.transaction.lockTimeout?.(limit.ms ?? lockTimeoutMs)
  if (isUnsupported(timeout)) throw new UnsupportedLockError(dialect.name, 'lock-timeout', timeout)
  return timeout
}

function runWork<Tx, T>(open: OpenTransaction<Tx>, job: Job<Tx, T>, begun: Begun): Promise<T> {
  const start = (): Promise<T> => {
    const taking = begun.takeLocks()
    return taking === undefined
      ? startWork(open, job)
      : inTime(open, job, taking).then(() => startWork(open, job))
  }
  const { lane, isOneConnection } = job.port.sessions
  const hasTurn = isOneConnection === true || job.options.access !== 'read-only'
  return job.scope.enter(open, start, hasTurn ? lane?.() : undefined)
}

function startWork<Tx, T>(open: OpenTransaction<Tx>, job: Job<Tx, T>): Promise<T> {
  const { begun, session } = open
  const { tx, around } = session
  const work = (): Promise<T> => (around === undefined ? job.work(tx) : around(() => job.work(tx)))
  open.isAtWork = true
  if (begun === undefined) return work()
  const working = unlessRefused(begun, work, () => untilIdleInTime(open, job))
  const inTimeToo = inTime(open, job, begun)
  if (inTimeToo === begun) return working
  // the work waits for the beginning only by its own first statement
  const unlessSilent = inTimeToo.then(
    () => working,
    (error: unknown) => {
      if (error instanceof NoAnswerError) throw error
      return working
    },
  )
  return Promise.race([working, unlessSilent])
}

/** Gives what is to be thrown: the work's own error, whatever becomes of the rollback, unless it undoes too little. */
async function rolledBack<Tx>(open: OpenTransaction<Tx>, error: unknown): Promise<unknown> {
  const { session, doubt, isInDoubt, dialect, signal } = open
  const lostBy = error instanceof WorkError ? error.lostBy : error
  // the abort may have come behind the work's own error: then nothing else has noticed it
  if (signal?.aborted === true) doubt(signal.reason)
  else if (readFailure(lostBy, dialect).transaction === 'unknown') doubt(lostBy)
  else if (!isInDoubt()) await inGrace(tellEnding(open, 'ROLLBACK', () => session.rollback())).catch(doubt)
  const stored = session.stored?.()
  const thrown = error instanceof WorkError ? error.thrown : error
  // the work may have been told of it by its next statement: an error that leads to itself has no end for those who follow it
  if (stored !== undefined && !leadsTo(thrown, stored)) stored.cause ??= thrown
  return stored ?? error
}

function leadsTo(error: unknown, cause: Error): boolean {
  return unwrap(error).some(({ error: layer }) => layer === (cause as unknown))
}

function leave<Tx>(open: OpenTransaction<Tx>, scope: Scope<Tx>): void {
  scope.leave(open)
  const { onLeave = [] } = open
  open.onLeave = undefined
  for (const tell of onLeave) tell()
}

/** Whatever the application lets its driver make of one. */
function isNumber(id: unknown): id is string | number | bigint {
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
}

/** Made of the row that came with the beginning. */
function doubtOf<Tx, T>(
  { dialect, version }: Server,
  job: Job<Tx, T>,
): (head: Row | undefined) => CommitDoubt<Tx> {
  return (head) => {
    const how = dialect.transaction.commitProbe?.(version)
    const id = head?.id
    return {
      port: job.port,
      probe: how !== undefined && isNumber(id) ? { how, id: `${id}` } : undefined,
      verify: job.options.verifyCommit,
      busyUntil: deadlineIn(job.options.lockTimeoutMs),
      limit: commitLimit(job),
    }
  }
}
