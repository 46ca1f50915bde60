import { graceMs } from '../../core/grace.ts'
import { CommitOutcomeUnknownError, LockUsageError, RetryableTransactionError } from '../../core/errors.ts'
import type { Row } from '../../core/statement.ts'
import { NoAnswerError, within } from '../limit.ts'
import type { OpenTransaction } from '../port.ts'
import { settleCommit, type CommitDoubt } from '../transaction/commit.ts'
import type { SentWhole } from '../transaction/job.ts'
import { noteStored } from '../transaction/open-transaction.ts'
import type { CheckedStatement } from './statement.ts'

type Answers = readonly (readonly Row[])[]

/**
 * Waits until a transaction that was sent as a whole is stored.
 *
 * COMMIT is under way from the first moment on: to give up means no more than to cancel, and whether anything is stored
 * is what the server says.
 */
export async function storedWhole<Tx>(
  open: OpenTransaction<Tx>,
  sent: SentWhole<Tx>,
  statements: readonly CheckedStatement[],
): Promise<Answers> {
  const { course, doubt } = sent
  const { signal } = open
  let head: Row | undefined
  course.begun.then(
    ([row]) => void (head = row),
    () => {},
  )
  // a cancel may arrive when the server is done, and would hit whoever has the connection by then
  const cancel = (): void => {
    open.doubt(signal?.reason)
    course.cancel()
  }
  if (signal?.aborted === true) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  let answers: Answers
  try {
    answers = await answered(open, sent)
  } catch (error) {
    if (error instanceof LockUsageError && error.isStored) {
      noteStored(open)
      throw error
    }
    if (!course.mayHaveRun()) {
      open.doubt(error)
      throw error
    }
    await settle(error, open, doubt(head))
    noteStored(open)
    return unlessLost(statements, error)
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
  noteStored(open)
  return answers
}

/** Rejects unless it is stored. A lock that took too long is just that, once it is known that nothing is. */
function settle<Tx>(error: unknown, open: OpenTransaction<Tx>, doubt: CommitDoubt<Tx>): Promise<void> {
  return settleCommit(error, open, doubt).catch((settled: unknown) => {
    throw error instanceof NoAnswerError && settled instanceof RetryableTransactionError ? error : settled
  })
}

/** All of it is stored: what the statements gave, unless that was rows, which the connection took with it. */
function unlessLost(statements: readonly CheckedStatement[], cause: unknown): Answers {
  if (!statements.some(({ returns }) => returns)) return statements.map(() => [])
  throw new CommitOutcomeUnknownError(
    'the statements are stored, and the rows that they gave were lost with the connection: read them again, and do not repeat the batch',
    { isStored: true, cause },
  )
}

async function answered<Tx>(
  { signal }: OpenTransaction<Tx>,
  { course, locking }: SentWhole<Tx>,
): Promise<Answers> {
  const longer = { signal, outlivesSignalMs: graceMs }
  await within({ ...longer, ms: locking.ms }, course.locked, () => {})
  return signal === undefined ? course.stored : within({ ...longer, ms: Infinity }, course.stored, () => {})
}
