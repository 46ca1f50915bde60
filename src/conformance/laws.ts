import type { Law } from './law.ts'
import { rowLaws } from './laws/rows.ts'
import { timeoutLaws } from './laws/timeout.ts'
import { tableLaws } from './laws/table.ts'
import { tableTransactionLaws } from './laws/table-transaction.ts'
import { skipLaws } from './laws/skip.ts'
import { sharedRowLaws } from './laws/rows-shared.ts'
import { rowCallLaws } from './laws/rows-call.ts'
import { nowaitLaws } from './laws/nowait.ts'
import { retryLaws } from './laws/retry.ts'
import { attemptLaws } from './laws/attempts.ts'
import { commitLaws } from './laws/commit.ts'
import { claimEndLaws } from './laws/claim-end.ts'
import { claimLaws } from './laws/claim.ts'
import { refusalLaws } from './laws/refusal.ts'
import { advisoryLaws } from './laws/advisory.ts'
import { batchLaws } from './laws/batch.ts'
import { advisorySessionLaws } from './laws/advisory-session.ts'
import { leaseLaws } from './laws/lease.ts'
import { semaphoreLaws } from './laws/semaphore.ts'

/** Every law, in the order of the chapters of the design. */
export const laws: readonly Law[] = [
  ...rowLaws,
  ...sharedRowLaws,
  ...rowCallLaws,
  ...nowaitLaws,
  ...skipLaws,
  ...timeoutLaws,
  ...tableLaws,
  ...tableTransactionLaws,
  ...advisoryLaws,
  ...batchLaws,
  ...advisorySessionLaws,
  ...leaseLaws,
  ...semaphoreLaws,
  ...retryLaws,
  ...attemptLaws,
  ...commitLaws,
  ...claimLaws,
  ...claimEndLaws,
  ...refusalLaws,
]
