import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { CommitOutcomeUnknownError } from '../../core/errors.ts'
import type { CommitProbe } from '../../dialects/transaction.ts'
import { busyPauseMs } from './begin.ts'
import { readFailure, type Failure } from '../failure.ts'
import type { OpenTransaction, Port } from '../port.ts'

/** What is needed to find out about a COMMIT whose answer was lost. */
export interface CommitDoubt<Tx> {
  readonly port: Port<Tx>
  readonly probe: { readonly how: CommitProbe; readonly id: string } | undefined
  readonly verify: (() => Promise<boolean>) | undefined
  /** Until when a COMMIT that others hold up is repeated. */
  readonly busyUntil: Deadline
}

/** How long the server is asked about a transaction that it still has under way. */
const patienceMs = 5000

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
  for (let failed = 1; ; failed += 1) {
    const failure = readFailure(error, dialect)
    if (!(await mayRepeat(failure, { transaction, doubt, failed }))) {
      if (isUnknown(failure)) return findOut(error, transaction, doubt)
      // refused: an ended transaction may still have to be left
      await session.rollback().catch(transaction.doubt)
      throw error
    }
    try {
      return await session.commit()
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
  transaction.doubt(error)
  if (!(await wasCommitted(doubt, error))) throw new RolledBackError(error)
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

function isUnknown({ kind, transaction }: Failure): boolean {
  return transaction === 'unknown' || kind === 'commit-unknown' || kind === 'connection-lost'
}

/** The connection broke, and the work is known not to be stored: it may be run again. */
export class RolledBackError extends Error {
  override readonly name = 'RolledBackError'

  constructor(cause: unknown) {
    super('the connection broke at COMMIT, and the server says that nothing was stored', { cause })
  }
}

async function wasCommitted<Tx>({ port, probe, verify }: CommitDoubt<Tx>, cause: unknown): Promise<boolean> {
  const fate =
    probe === undefined
      ? 'unknown'
      : await askServer(port, probe.how.ask(probe.id), probe.how).catch(() => 'unknown')
  if (fate === 'committed') return true
  if (fate === 'rolled-back') return false
  if (verify !== undefined) return verify()
  throw new CommitOutcomeUnknownError(
    'the connection broke before COMMIT was answered: the work may be stored or not. Look before you repeat it, or give verifyCommit',
    { cause },
  )
}

async function askServer<Tx>(
  port: Port<Tx>,
  question: ReturnType<CommitProbe['ask']>,
  how: CommitProbe,
): Promise<string> {
  const deadline = deadlineIn(patienceMs)
  const session = await port.sessions.open()
  try {
    for (let look = 1; ; look += 1) {
      const fate = how.read((await session.run(question))[0])
      if (fate !== 'running' || deadline.isPast()) return fate
      await pause(backoffMs(look), deadline)
    }
  } finally {
    await session.release()
  }
}
