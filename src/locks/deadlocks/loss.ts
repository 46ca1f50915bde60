import type { Deadline } from '../../core/deadline.ts'
import { RetryableTransactionError } from '../../core/errors.ts'
import { quietly } from '../../core/unwrap.ts'
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

/** What the work has put around an error may be anything, as a proxy that cannot be asked for its class. */
export function isDeadlock(error: unknown): error is RetryableTransactionError {
  return quietly(() => error instanceof RetryableTransactionError && error.kind === 'deadlock') === true
}
