export { withTxRetry, type Locks } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type { Retry, TransactionOptions } from '../locks/transaction/options.ts'
export type { FailOptions, TestFault } from '../testing/faults.ts'
export type { TestHeld } from '../testing/held.ts'
export {
  createTestLocks,
  type Testing,
  type TestLocks,
  type TestLocksOptions,
  type TestTransaction,
} from '../testing/locks.ts'
