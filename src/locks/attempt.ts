import { deadlineIn, type Deadline } from '../core/deadline.ts'
import { UnsupportedLockError } from '../core/errors.ts'
import type { Session, TransactionStart } from '../core/session.ts'
import type { Row } from '../core/statement.ts'
import { isUnsupported } from '../core/support.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { LockTimeout } from '../dialects/transaction.ts'
import { untilAborted } from './abort.ts'
import { beginWaiting } from './begin.ts'
import { commit, type CommitDoubt } from './commit.ts'
import { readFailure } from './failure.ts'
import { takeTurn } from './lane.ts'
import type { TransactionOptions } from './options.ts'
import type { OpenTransaction, Port, Server } from './port.ts'
import type { Scope } from './scope.ts'
import { sessionEnd } from './session-end.ts'
import { withSetting } from './setting.ts'

/** What one attempt at a transaction needs. */
export interface Job<Tx, T> {
  readonly port: Port<Tx>
  readonly scope: Scope<Tx>
  readonly candidates: readonly Dialect[]
  readonly work: (tx: Tx) => Promise<T>
  readonly options: TransactionOptions
}

/** Runs the work once, in a transaction on a connection of its own, when it is this caller's turn. */
export async function attempt<Tx, T>(job: Job<Tx, T>): Promise<T> {
  const { lane } = job.port.sessions
  const { lockTimeoutMs, signal, access } = job.options
  const deadline = deadlineIn(lockTimeoutMs)
  if (lane === undefined || access === 'read-only') return inSession(job, deadline)
  const endTurn = await takeTurn(lane(), { deadline, signal })
  try {
    return await inSession(job, deadline)
  } finally {
    endTurn()
  }
}

/** Whatever happens, the connection goes back clean or is destroyed. */
async function inSession<Tx, T>(job: Job<Tx, T>, deadline: Deadline): Promise<T> {
  const session = await openSession(job)
  const ending = sessionEnd(session)
  try {
    const server = await job.port.server(session)
    const { signal, isolation, access = 'read-write' } = job.options
    const open = { ...server, session, signal, isolation, access, deadline, doubt: ending.doubt }
    return await transact(open, job)
  } catch (error) {
    if (readFailure(error, job.candidates).transaction === 'unknown') ending.doubt(error)
    throw error
  } finally {
    await ending.end()
  }
}

/** A session that arrives after the caller has given up goes straight back. */
async function openSession<Tx, T>({ port, options }: Job<Tx, T>): Promise<Session<Tx>> {
  const opening = port.sessions.open()
  const giveBack = async (): Promise<void> => (await opening).release()
  return untilAborted(opening, options.signal, () => void giveBack().catch(() => {}))
}

async function transact<Tx, T>(open: OpenTransaction<Tx>, job: Job<Tx, T>): Promise<T> {
  const timeout = lockTimeout(open, job.options)
  const setting = timeout !== undefined && 'setting' in timeout ? timeout.setting : undefined
  return withSetting(open.session, setting, {
    doubt: open.doubt,
    signal: open.signal,
    work: async () => {
      const head = await begin(open, job.options, timeout)
      const result = await runWork(open, job)
      await commit(open, commitDoubt(open, job, head))
      return result
    },
  })
}

function lockTimeout({ dialect }: Server, { lockTimeoutMs }: TransactionOptions): LockTimeout | undefined {
  const timeout = lockTimeoutMs === undefined ? undefined : dialect.transaction.lockTimeout?.(lockTimeoutMs)
  if (isUnsupported(timeout)) throw new UnsupportedLockError(dialect.name, 'lock-timeout', timeout)
  return timeout
}

async function begin(
  { session, dialect, version, access, deadline, signal }: OpenTransaction<unknown>,
  { isolation, ...options }: TransactionOptions,
  timeout: LockTimeout | undefined,
): Promise<Row | undefined> {
  const { writeMode, commitProbe } = dialect.transaction
  const writes = access === 'read-write'
  const head = [
    ...(timeout !== undefined && 'head' in timeout ? [timeout.head] : []),
    ...(writes ? [commitProbe?.(version)?.head] : []),
  ].filter((statement) => statement !== undefined)
  const start: TransactionStart = {
    ...(isolation && { isolation }),
    ...(options.access && { access }),
    ...(writes && writeMode !== undefined && { mode: writeMode }),
    ...(head.length > 0 && { head }),
  }
  const [row] = await beginWaiting(session, start, { dialect, deadline, signal })
  return row
}

/** The work's own error is the one that is thrown, whatever becomes of the rollback. */
async function runWork<Tx, T>(open: OpenTransaction<Tx>, { scope, work }: Job<Tx, T>): Promise<T> {
  const { session, doubt, dialect, signal } = open
  try {
    // a statement of the work may be waiting for a lock: only destroying the session ends that wait
    const running = scope.enter(open, async () => work(session.tx))
    return await untilAborted(running, signal, () => doubt(signal?.reason))
  } catch (error) {
    if (signal?.aborted === true) throw error
    if (readFailure(error, dialect).transaction === 'unknown') doubt(error)
    else await session.rollback().catch(doubt)
    throw error
  } finally {
    scope.leave(open)
  }
}

function commitDoubt<Tx, T>(
  { dialect, version }: Server,
  job: Job<Tx, T>,
  head: Row | undefined,
): CommitDoubt<Tx> {
  const how = dialect.transaction.commitProbe?.(version)
  const id = head?.id
  return {
    port: job.port,
    probe: how !== undefined && typeof id === 'string' ? { how, id } : undefined,
    verify: job.options.verifyCommit,
    busyUntil: deadlineIn(job.options.lockTimeoutMs),
  }
}
