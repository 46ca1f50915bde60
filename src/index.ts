export { categories, categoryMeaning, isCategory } from './core/category.ts'
export type { Classification, ErrorLike, ErrorMeaning, ErrorTable } from './core/classification.ts'
export { errorKinds, isRetryable, retryableKinds } from './core/error-kind.ts'
export {
  CommitOutcomeUnknownError,
  LockError,
  LockLostError,
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
  UnsupportedLockError,
  type LockErrorCode,
} from './core/errors.ts'
export { canonicalKey } from './core/key.ts'
export { rawHashtextKey, rawInt32PairKey, rawInt64Key, rawNameKey } from './core/raw-key.ts'
export {
  restoreStatement,
  type Plan,
  type PlanDraft,
  type QueryLock,
  type SettingChange,
  type TablesAtOnce,
  type Waiting,
} from './core/plan.ts'
export type {
  AdvisoryRequest,
  LeaseTerms,
  RequestOf,
  Requests,
  RowRequest,
  TableRequest,
} from './core/request.ts'
export type { CheckedAdvisory, CheckedRequest, CheckedRow, CheckedTable } from './core/check-request.ts'
export { isSql, readAnswer } from './core/statement.ts'
export { emulated, isUnsupported, native, stronger, unsupported } from './core/support.ts'
export { parseVersion } from './core/version.ts'
export type {
  ClaimEvent,
  EventFailure,
  EventPlace,
  HoldEvent,
  JobEvent,
  LeaseEvent,
  LockEvent,
  RetryEvent,
  StatementEvent,
  TransactionEvent,
} from './events/shapes.ts'
export type { BuiltinDialect, Dialect, Emitter } from './dialects/dialect.ts'
export type {
  DeadlockClues,
  DeadlockFound,
  DeadlockReader,
  DialectTools,
  Examination,
  Fixture,
  Inspector,
  Question,
  Replies,
} from './dialects/tools.ts'
export { classifyError, type ClassifyOptions } from './classify.ts'
export { emit, type ServerKind } from './emit.ts'
export { explain } from './explain.ts'
export { withTxRetry } from './locks.ts'
export { statement } from './locks/batch/statement.ts'
export { JobsLostError } from './locks/queue/complete-all.ts'
export { supportMatrix, type SupportCell } from './matrix.ts'
export { registry } from './registry.ts'
export { isUniqueViolation } from './unique-violation.ts'
export type * from './result-types.ts'
