import { CommitOutcomeUnknownError, LockUsageError } from '../core/errors.ts'
import type { ErrorSource } from '../core/classify.ts'
import { retryChannel, statementChannel, transactionChannel } from './channels.ts'
import { noteFailure } from './failure.ts'
import { areLocksHeard } from './lock-story.ts'
import { note } from './note.ts'
import { objectionTo } from './objection.ts'
import type { RetryEvent, TransactionEvent } from './shapes.ts'
import { trace } from './trace.ts'

/** Somebody listens to transactions, or to locks and statements, which name the transaction that they are of. */
export function areTransactionsHeard(): boolean {
  return (
    transactionChannel.hasSubscribers ||
    retryChannel.hasSubscribers ||
    statementChannel.hasSubscribers ||
    areLocksHeard()
  )
}

/** Tells that it is run again. */
export function tellRetry(retry: RetryEvent): void {
  if (retryChannel.hasSubscribers) retryChannel.publish(retry)
}

/** Tells of a transaction from here to its end, however often it is run again. */
export function tellTransaction<T>(
  event: TransactionEvent,
  sources: readonly ErrorSource[],
  run: () => Promise<T>,
): Promise<T> {
  const told = (): Promise<T> =>
    run()
      .then((result) => {
        note(event, { outcome: 'committed' })
        const objection = objectionTo(event)?.(true)
        if (objection !== undefined) throw objection
        return result
      })
      .catch((error: unknown) => {
        note(event, { outcome: outcomeOf(error) })
        noteFailure(event, error, sources)
        throw error
      })
  return trace(transactionChannel, event, told)
}

function outcomeOf(error: unknown): NonNullable<TransactionEvent['outcome']> {
  const isUnknown = error instanceof CommitOutcomeUnknownError
  if (isUnknown && error.isStored !== true) return 'unknown'
  return isUnknown || (error instanceof LockUsageError && error.isStored) ? 'committed' : 'rolled back'
}
