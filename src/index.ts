export { categories, categoryMeaning, isCategory, type Category } from './core/category.ts'
export type { Classification, ErrorLike, ErrorMeaning, ErrorTable } from './core/classification.ts'
export {
  errorKinds,
  isRetryable,
  retryableKinds,
  type ErrorKind,
  type RetryableKind,
  type TransactionState,
} from './core/error-kind.ts'
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
export { canonicalKey, type CanonicalKey, type KeyPart, type LockKey, type RawKey } from './core/key.ts'
export { rawHashtextKey, rawInt32PairKey, rawInt64Key, rawNameKey } from './core/raw-key.ts'
export {
  restoreStatement,
  type Plan,
  type PlanDraft,
  type QueryLock,
  type SettingChange,
  type Waiting,
} from './core/plan.ts'
export type { Receipt } from './core/receipt.ts'
export type {
  AdvisoryRequest,
  Isolation,
  LeaseTerms,
  LockMode,
  RequestOf,
  Requests,
  RowRequest,
  Strength,
  TableName,
  TableRequest,
  Target,
  Wait,
} from './core/request.ts'
export type { CheckedAdvisory, CheckedRequest, CheckedRow, CheckedTable } from './core/check-request.ts'
export type { Session, Sessions, TransactionStart } from './core/session.ts'
export {
  isSql,
  readAnswer,
  type Answer,
  type Answers,
  type DocumentCommand,
  type Row,
  type SqlStatement,
  type Statement,
  type Value,
} from './core/statement.ts'
export {
  emulated,
  isUnsupported,
  native,
  stronger,
  unsupported,
  type Granularity,
  type Support,
  type Supported,
  type SupportLevel,
  type Unsupported,
} from './core/support.ts'
export { parseVersion, type Version } from './core/version.ts'
export type { BuiltinDialect, Dialect, Emitter } from './dialects/dialect.ts'
export { classifyError, type ClassifyOptions } from './classify.ts'
export { emit, type ServerKind } from './emit.ts'
export { explain } from './explain.ts'
export { withTxRetry, type Locks, type LocksOptions, type RowOptionsOf, type WaitOf } from './locks.ts'
export type { Retry, TransactionOptions } from './locks/options.ts'
export type { LockPlaces, RowQuery, SqlQuery } from './locks/query.ts'
export type { LockedRows, RowOptions } from './locks/rows.ts'
export { supportMatrix, type SupportCell } from './matrix.ts'
export { registry, type DialectName, type Registry } from './registry.ts'
