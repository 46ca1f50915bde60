export { withTxRetry } from '../locks.ts'
export { queue } from '../locks/queue/queue.ts'
export type { FailOptions, TestFault } from '../testing/faults.ts'
export type { TestHeld } from '../testing/held.ts'
export {
  createTestLocks,
  type Testing,
  type TestLocks,
  type TestLocksOptions,
  type TestTransaction,
} from '../testing/locks.ts'
export type * from '../result-types.ts'
