/*
 * The types of what the calls of every entry take and give, so that each can be named by who imports that entry alone:
 * TypeScript refuses to write a declaration file for an exported value whose type the imported entry does not export.
 */
export type {
  Attestation,
  AttestedCapability,
  AttestOptions,
  Finding,
  QueueIndex,
  Severity,
} from './core/attestation.ts'
export type { BackoffOptions } from './core/backoff.ts'
export type { Category } from './core/category.ts'
export type { Deadlock, DeadlockedSession } from './core/deadlock.ts'
export type { ErrorKind, RetryableKind, TransactionState } from './core/error-kind.ts'
export type {
  InspectOptions,
  Inspection,
  LeaseSeen,
  LockKind,
  LockSeen,
  SessionSeen,
  WaitSeen,
} from './core/inspection.ts'
export type { CanonicalKey, KeyPart, LockKey, RawKey } from './core/key.ts'
export type { Receipt } from './core/receipt.ts'
export type { Isolation, LockMode, Strength, TableName, Target, Wait } from './core/request.ts'
export type { Session, Sessions, TransactionStart, WholeCourse, WholeTransaction } from './core/session.ts'
export type {
  Answer,
  Answers,
  DocumentCommand,
  Row,
  SqlStatement,
  Statement,
  Value,
} from './core/statement.ts'
export type { Granularity, Support, Supported, SupportLevel, Unsupported } from './core/support.ts'
export type { Version } from './core/version.ts'
export type { Locks, LocksOptions, RowOptionsOf, SharedLocks, TableLocks, TableOf, WaitOf } from './locks.ts'
export type { Acquire, AcquireOptions } from './locks/named/acquire.ts'
export type { BatchResult, DeclaredResults, DeclaredStatement, RowGuard } from './locks/batch/statement.ts'
export type { AdvisoryLocks } from './locks/named/advisory.ts'
export type { LockedWork, Tried } from './locks/named/try-lock.ts'
export type { LockInTransaction, LocksInTransaction } from './locks/named/held-lock.ts'
export type { Handler } from './locks/queue/attend.ts'
export type { ClaimOptions, Reclaimed } from './locks/queue/claim.ts'
export type { Claims } from './locks/queue/claims.ts'
export type { InOrder, InOrderOptions, LockedResource } from './locks/patterns/in-order.ts'
export type { IndexAdvice } from './locks/queue/index-advice.ts'
export type { Enqueued, EnqueueOptions } from './locks/queue/enqueue.ts'
export type { NewJob } from './locks/queue/new-jobs.ts'
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
export type { PermitOptions, SemaphoreOptions } from './locks/semaphore/options.ts'
export type { Permit, Semaphore } from './locks/semaphore/semaphore.ts'
export type { SharedLock, SharedLockAsked, SharedLockOptions } from './locks/shared/shared-lock.ts'
export type { Held } from './locks/session-lock/hold.ts'
export type { TableLock, TableOptions, TablesOption } from './locks/table/options.ts'
export type { SingletonOptions, SingletonRun, SingletonWork } from './locks/nodes/singleton.ts'
export type { VersionedTarget, VersionedUpdate } from './locks/patterns/versioned-row.ts'
export type { WorkOptions, WorkReport } from './locks/queue/work-options.ts'
export type { DialectName, Registry } from './registry.ts'
