import type { ErrorKind } from '../core/error-kind.ts'
import type { LockKey } from '../core/key.ts'
import type { LockMode, Wait } from '../core/request.ts'

/** Where something happens. */
export interface EventPlace {
  /** The part of the package that the locks were made with, such as `pg` or `prisma`. */
  readonly adapter: string
  /** The database. Undefined until the server has said what it is. */
  readonly dialect: string | undefined
}

/** How something ended that failed. There from then on. */
export interface EventFailure {
  /** What the call rejects with. */
  readonly error?: unknown
  /** What the error means, in the words that every database shares. */
  readonly errorKind?: ErrorKind
}

/** A transaction of `locks.transaction`, `withLock` and their like: from the call to its end, with all its attempts. */
export interface TransactionEvent extends EventPlace, EventFailure {
  /** The keys that it was opened with, as `withLock` does. */
  readonly keys: readonly LockKey[]
  readonly isolation: string | undefined
  readonly access: 'read-write' | 'read-only'
  /** How often it was begun so far. */
  readonly attempts: number
  /** Whether the adapter shows its statements. There once it has begun, if somebody listens to `holdfast:statement`. */
  readonly showsStatements?: boolean
  /** Whether it is the only one of its database that writes, as on SQLite. There once it has begun. */
  readonly isOnlyWriter?: boolean
  /** There at its end. `unknown`: the connection broke at COMMIT, and nobody can tell what is stored. */
  readonly outcome?: 'committed' | 'rolled back' | 'unknown'
}

/** A statement of a transaction, from when it is sent to its answer. Some adapters show none. */
export interface StatementEvent extends EventPlace, EventFailure {
  readonly text: string
  /** The values for its placeholders, as the driver was given them and where the adapter shows them. */
  readonly params: unknown
  readonly transaction: TransactionEvent | undefined
  /** How long the answer took. There once it has come. */
  readonly tookMs?: number
}

/** A transaction that has lost an attempt, and is run again after a pause. */
export interface RetryEvent extends EventFailure {
  readonly transaction: TransactionEvent
  /** How long the pause is. */
  readonly pauseMs: number
}

/** What is asked for, granted, and held until it ends. */
export interface HoldEvent extends EventPlace, EventFailure {
  /** How long the answer took, by the monotonic clock. There once it has come. */
  readonly waitedMs?: number
  /** There once the answer has come. */
  readonly outcome?: 'granted' | 'refused'
  /** How long it was held. There when it has ended. */
  readonly heldMs?: number
  /** Whether it ended without being released, as when its connection broke. There when it has ended. */
  readonly isLost?: boolean
}

/** A lock: from the call that asks for it to the answer, and then, on `holdfast:lock:ended`, at its end. */
export interface LockEvent extends HoldEvent {
  /**
   * `rows`: of a table. `table`: all of it. `named`: for the length of a transaction. `session`: until it is released.
   */
  readonly kind: 'rows' | 'table' | 'named' | 'session'
  /** Of a lock with a name. */
  readonly key?: LockKey
  /** Of a lock on a table, and of one on rows where it is known: not every query tells. */
  readonly table?: string
  readonly mode: LockMode
  readonly wait: Wait
  /** The transaction that holds it. Undefined for a session lock, and before the transaction is there. */
  readonly transaction: TransactionEvent | undefined
  /** Where `withLock` is run again, and asks for it again: how it was asked for first. */
  readonly first?: LockEvent
}

/** A lease: from the call that asks for it to the answer, and then, on `holdfast:lease:ended`, at its end. */
export interface LeaseEvent extends HoldEvent {
  readonly key: LockKey
  readonly ttlMs: number
  readonly wait: Wait
  /** It is a permit of the semaphore of this key, of which others may have one too. */
  readonly isPermit?: true
  /** The fencing token. There once it is granted. */
  readonly fence?: number
}

/** A job in the hands of a worker of `locks.work`: from the claim to its end. */
export interface JobEvent extends EventPlace, EventFailure {
  /** The queue's table. */
  readonly queue: string
  readonly id: unknown
  /** How often it was claimed, this time included; undefined where the queue does not count. */
  readonly attempts: number | undefined
  /** There at its end. `lost`: another worker may have it by now. */
  readonly outcome?: 'done' | 'released' | 'failed' | 'lost'
}

/** Jobs that were claimed by one call, by hand or by a worker. */
export interface ClaimEvent extends EventPlace {
  /** The queue's table. */
  readonly queue: string
  readonly jobs: number
}
