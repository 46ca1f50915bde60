import { CommitOutcomeUnknownError, LockUsageError } from '../core/errors.ts'
import type { ErrorSource } from '../core/classify.ts'
import type { Mutable } from '../core/mutable.ts'
import { transactionChannel } from './channels.ts'
import { noteFailure } from './failure.ts'
import { areLocksHeard } from './lock-story.ts'
import type { TransactionEvent } from './shapes.ts'

/** Somebody listens to transactions, or to locks, which name the transaction that has them. */
export function areTransactionsHeard(): boolean {
  return transactionChannel.hasSubscribers || areLocksHeard()
}

/** Tells of a transaction from here to its end, however often it is run again. */
export function tellTransaction<T>(
  event: Mutable<TransactionEvent>,
  sources: readonly ErrorSource[],
  run: () => Promise<T>,
): Promise<T> {
  const told = (): Promise<T> =>
    run().then(
      (result) => {
        event.outcome = 'committed'
        return result
      },
      (error: unknown) => {
        event.outcome = outcomeOf(error)
        noteFailure(event, error, sources)
        throw error
      },
    )
  return transactionChannel.tracePromise(told, event)
}

function outcomeOf(error: unknown): NonNullable<TransactionEvent['outcome']> {
  if (error instanceof CommitOutcomeUnknownError) return 'unknown'
  return error instanceof LockUsageError && error.isStored ? 'committed' : 'rolled back'
}
