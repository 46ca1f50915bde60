export type {
  Attestation,
  AttestedCapability,
  AttestOptions,
  Finding,
  QueueIndex,
  Severity,
} from './core/attestation.ts'
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
export type {
  InspectOptions,
  Inspection,
  LeaseSeen,
  LockKind,
  LockSeen,
  SessionSeen,
  WaitSeen,
} from './core/inspection.ts'
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
export type { BackoffOptions } from './core/backoff.ts'
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
export type { DialectTools, Examination, Fixture, Inspector, Question, Replies } from './dialects/tools.ts'
export { classifyError, type ClassifyOptions } from './classify.ts'
export { emit, type ServerKind } from './emit.ts'
export { explain } from './explain.ts'
export {
  withTxRetry,
  type Locks,
  type LocksOptions,
  type RowOptionsOf,
  type SharedLocks,
  type WaitOf,
} from './locks.ts'
export type { Acquire, AcquireOptions } from './locks/named/acquire.ts'
export type { AdvisoryLocks, LockedWork, Tried } from './locks/named/advisory.ts'
export type { LockInTransaction, LocksInTransaction } from './locks/named/held-lock.ts'
export type { Handler } from './locks/queue/attend.ts'
export type { ClaimOptions, Reclaimed } from './locks/queue/claim.ts'
export type { Claims } from './locks/queue/claims.ts'
export { JobsLostError } from './locks/queue/complete-all.ts'
export type { InOrder, InOrderOptions, LockedResource } from './locks/patterns/in-order.ts'
export type { IndexAdvice } from './locks/queue/index-advice.ts'
export type { QueueStats } from './locks/queue/stats.ts'
export type { Job, JobKey, JobOptions, ReleaseOptions } from './locks/queue/job.ts'
export type { LeaderOptions } from './locks/nodes/leader.ts'
export type { LeaseOptions } from './locks/lease/options.ts'
export type { Lease } from './locks/lease/lease.ts'
export type { JoinOptions, LockOptions, WithLockOptions } from './locks/named/lock-options.ts'
export type { MigrationOptions } from './locks/nodes/migration-lock.ts'
export type { NamedLocks } from './locks/named/named-locks.ts'
export type { Once, OnceResult } from './locks/patterns/once.ts'
export type { OptimisticWrites } from './locks/patterns/optimistic.ts'
export type { Retry, TransactionOptions } from './locks/transaction/options.ts'
export type { LockPlaces, RowQuery, SqlQuery } from './locks/rows/query.ts'
export type { Queue, QueueDefinition } from './locks/queue/queue-definition.ts'
export type { Resource } from './locks/patterns/resource-order.ts'
export type { LockedRows, RowOptions } from './locks/rows/rows.ts'
export type { Held } from './locks/session-lock/hold.ts'
export type { SingletonOptions, SingletonRun, SingletonWork } from './locks/nodes/singleton.ts'
export type { VersionedTarget, VersionedUpdate } from './locks/patterns/versioned-row.ts'
export type { WorkOptions, WorkReport } from './locks/queue/work-options.ts'
export { supportMatrix, type SupportCell } from './matrix.ts'
export { registry, type DialectName, type Registry } from './registry.ts'
export { isUniqueViolation } from './unique-violation.ts'
