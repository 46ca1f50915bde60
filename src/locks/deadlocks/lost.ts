import { classifyFor } from '../../core/classify.ts'
import type { Deadlock } from '../../core/deadlock.ts'
import type { Deadline } from '../../core/deadline.ts'
import { RetryableTransactionError } from '../../core/errors.ts'
import { quietly } from '../../core/unwrap.ts'
import type { OpenTransaction } from '../port.ts'
import type { TransactionOptions } from '../transaction/options.ts'

/** An attempt that has failed. */
export interface Loss {
  /** What the database has ended it with. */
  readonly error: unknown
  /** What the work has thrown instead, which the caller sees as it is. */
  readonly thrown?: unknown
  readonly options: TransactionOptions
  readonly budget?: Deadline | undefined
  readonly isLast?: boolean | undefined
}

/** What was found out, by the driver's own error: the one that the caller sees is made of that later. */
const known = new WeakMap<object, Deadlock>()

/**
 * Finds out about the deadlock that an attempt has lost to, on its own connection after the rollback: nobody else has to
 * give one up, and what others waited for is still theirs to wait for. Undefined where it was none. Never rejects, and
 * takes no longer than a second.
 */
export function examineDeadlock(open: OpenTransaction<unknown>, loss: Loss): Promise<void> | undefined {
  const { kind, original } = classifyFor(loss.error, open.dialect)
  if (kind !== 'deadlock' || loss.options.signal?.aborted === true) return undefined
  return examine(open, loss, original)
}

async function examine(open: OpenTransaction<unknown>, loss: Loss, original: unknown): Promise<void> {
  try {
    // what few ever need is loaded when it is
    const { examineLoss } = await import('./examine.ts')
    const deadlock = await examineLoss(open, loss, original)
    if (deadlock !== undefined && typeof original === 'object' && original !== null)
      known.set(original, deadlock)
  } catch {
    // the caller has to hear of the deadlock, and not of what went wrong when it was looked into
  }
}

/** What the work has put around an error may be anything, as a proxy that cannot be asked for its class. */
export function isDeadlock(error: unknown): error is RetryableTransactionError {
  return quietly(() => error instanceof RetryableTransactionError && error.kind === 'deadlock') === true
}

/** The same error, which tells of its deadlock where that was looked into. */
export function withDeadlock(error: unknown): unknown {
  const deadlock = isDeadlock(error) ? known.get(error.cause as object) : undefined
  return deadlock === undefined ? error : Object.assign(error as Error, { deadlock })
}
