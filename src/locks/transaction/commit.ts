import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { inWords } from '../../core/in-words.ts'
import { CommitOutcomeUnknownError, RetryableTransactionError } from '../../core/errors.ts'
import { UnsentCommit, type Session } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import type { CommitProbe } from '../../dialects/transaction.ts'
import { busyPauseMs } from './begin.ts'
import { readFailure, type Failure } from '../failure.ts'
import { inGrace, NoAnswerError, within, type LimitTerms } from '../limit.ts'
import { openSession } from '../open-session.ts'
import type { OpenTransaction, Port } from '../port.ts'
import { sessionEnd } from '../session-end.ts'

/** What is needed to find out about a COMMIT whose answer was lost. */
export interface CommitDoubt<Tx> {
  readonly port: Port<Tx>
  readonly probe: Probe | undefined
  readonly verify: (() => Promise<boolean>) | undefined
  /** Until when a COMMIT that others hold up is repeated. */
  readonly busyUntil: Deadline
  /** Until when its answer is waited for. Absent: until it comes. */
  readonly limit: LimitTerms | undefined
}

interface Probe {
  readonly how: CommitProbe
  /** The transaction's number. */
  readonly id: string
}

/** How long the server is asked about a transaction that it still has under way. */
const patienceMs = 5000

/** Rejects with {@link NoAnswerError} when no answer comes in time. */
export function sendCommit(session: Session, limit: LimitTerms | undefined): Promise<void> {
  return limit === undefined ? session.commit() : within(limit, session.commit(), () => {})
}

/**
 * What becomes of a COMMIT that failed. When the connection broke before the answer, the server is asked, or the
 * caller, and only a clear answer counts: `CommitOutcomeUnknownError` otherwise.
 */
export async function settleCommit<Tx>(
  reason: unknown,
  transaction: OpenTransaction<Tx>,
  doubt: CommitDoubt<Tx>,
): Promise<void> {
  const { session, dialect } = transaction
  let error = reason
  if (error instanceof UnsentCommit) {
    transaction.doubt(error.cause)
    throw error.cause
  }
  for (let failed = 1; ; failed += 1) {
    const failure = readFailure(error, dialect)
    if (!(await mayRepeat(failure, { transaction, doubt, failed }))) {
      // what the work itself has left in doubt is not settled by what became of the COMMIT, which was not sent
      if (isUnknown(failure) && !(error instanceof CommitOutcomeUnknownError))
        return findOut(error, transaction, doubt)
      // refused: an ended transaction may still have to be left
      await inGrace(session.rollback()).catch(transaction.doubt)
      throw error
    }
    try {
      return await sendCommit(session, doubt.limit)
    } catch (next) {
      error = next
    }
  }
}

async function findOut<Tx>(
  error: unknown,
  transaction: OpenTransaction<Tx>,
  doubt: CommitDoubt<Tx>,
): Promise<void> {
  // before anybody is asked: the pool may have no other place
  transaction.giveUp(error)
  // one that only reads has stored nothing, and is as good as new when it is run again
  if (transaction.access === 'read-only') throw rolledBack(error, 'and nothing was to be stored')
  await provenCommitted(doubt, error)
}

interface CommitState<Tx> {
  readonly transaction: OpenTransaction<Tx>
  readonly doubt: CommitDoubt<Tx>
  readonly failed: number
}

/** Whether only the COMMIT is worth another try, after a pause. */
async function mayRepeat<Tx>(
  failure: Failure,
  { transaction, doubt, failed }: CommitState<Tx>,
): Promise<boolean> {
  const { dialect, signal } = transaction
  // Readers of an SQLite database without WAL hold up a COMMIT; the transaction is as good as before.
  const isHeldUp = failure.kind === 'busy' && failure.transaction === 'open' && !doubt.busyUntil.isPast()
  const isRepeatable = dialect.transaction.canRepeatCommit === true && isUnknown(failure) && failed <= 3
  if (isHeldUp) {
    await pause(busyPauseMs(), doubt.busyUntil, signal).catch((reason: unknown) => {
      transaction.doubt(reason)
      throw reason
    })
  } else if (isRepeatable) await pause(backoffMs(failed))
  return isHeldUp || isRepeatable
}

function isUnknown({ kind, transaction, error }: Failure): boolean {
  return (
    transaction === 'unknown' ||
    kind === 'commit-unknown' ||
    kind === 'connection-lost' ||
    error instanceof NoAnswerError
  )
}

/** The connection broke, and it is known `why` the work is not stored: it may be run again. */
function rolledBack(cause: unknown, why: string): RetryableTransactionError {
  return new RetryableTransactionError('connection-lost', `COMMIT was not answered, ${why}: run it again`, {
    cause,
  })
}

/** Rejects unless somebody knows that the work is stored. */
async function provenCommitted<Tx>({ port, probe, verify }: CommitDoubt<Tx>, cause: unknown): Promise<void> {
  const fate = probe === undefined ? 'unknown' : await askServer(port, probe).catch(() => 'unknown')
  if (fate === 'committed') return
  if (fate === 'rolled-back') throw rolledBack(cause, 'and the server says that nothing was stored')
  if (verify !== undefined) {
    if (await answerOf(verify, cause)) return
    throw rolledBack(cause, 'and verifyCommit says that nothing was stored')
  }
  throw new CommitOutcomeUnknownError(
    'COMMIT was not answered, or the connection broke before it was: the work may or may not be stored. Check before you retry, or pass verifyCommit',
    { cause },
  )
}

/** Whatever it fails with is no failure of the transaction, which may be stored: that is not to be run again. */
function answerOf(verify: () => Promise<boolean>, cause: unknown): Promise<boolean> {
  const unknown = (why: unknown): never => {
    throw new CommitOutcomeUnknownError(
      `COMMIT was not answered, and verifyCommit could not tell (${inWords(why)}): the work may or may not be stored. Check before you retry`,
      { cause },
    )
  }
  return new Promise<boolean>((resolve) => resolve(verify())).catch(unknown)
}

async function askServer<Tx>(port: Port<Tx>, { how, id }: Probe): Promise<string> {
  const deadline = deadlineIn(patienceMs)
  const limits = { purpose: 'to ask what became of a COMMIT', patienceMs }
  const session = await openSession(port, limits)
  const { doubt, end } = sessionEnd(session)
  const ask = (): Promise<readonly Row[]> =>
    within({ ms: deadline.remainingMs() }, session.run(how.ask(id)), () => {})
  try {
    for (let look = 1; ; look += 1) {
      const fate = how.read((await ask())[0])
      if (fate !== 'running' || deadline.isPast()) return fate
      await pause(backoffMs(look), deadline)
    }
  } catch (error) {
    doubt(error)
    throw error
  } finally {
    void end()
  }
}
