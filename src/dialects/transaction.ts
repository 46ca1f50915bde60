import type { ErrorLike } from '../core/classification.ts'
import type { SettingChange } from '../core/plan.ts'
import type { Row, SqlStatement, Statement } from '../core/statement.ts'
import type { Unsupported } from '../core/support.ts'
import type { Version } from '../core/version.ts'

/** How a dialect's transactions behave: what the algorithm that runs them has to know. */
export interface TransactionTraits {
  /** The word that makes BEGIN take the write lock at once, where a transaction that reads first may fail to write. */
  readonly writeMode?: string
  /**
   * Limits how long any statement of the transaction waits for a lock.
   *
   * Absent where the engine never waits by itself: there the limit is one for the repeated BEGIN or transaction.
   */
  readonly lockTimeout?: (ms: number) => LockTimeout | Unsupported
  /**
   * Limits the waits of the transaction by a column more in a statement of its beginning, from that on. A lower limit of
   * the server's own stays. Absent where that takes a statement that is sent by itself.
   */
  readonly lowerLockTimeout?: (ms: number, beside: SqlStatement | undefined) => SqlStatement
  /**
   * Whether an error that says that the statement was cancelled may be a lock timeout all the same, of a statement that
   * does nothing but wait for locks, or of one that does more. Absent where a timeout always says that it is one.
   */
  readonly mayBeTimeout?: (cancelled: ErrorLike, isOnlyLocks: boolean) => boolean
  /**
   * Whether an error ends the transaction unless it is rolled back to a savepoint. Absent where only the statement
   * fails, and where no savepoint helps.
   */
  readonly savesBySavepoint?: boolean
  /**
   * Whether something is read between BEGIN and the statements that travel with it: then a lock among these comes behind
   * the snapshot of a transaction that reads as of its first read. Absent where nothing is.
   */
  readonly readsFirst?: true
  /** Whether a COMMIT whose answer was lost may simply be sent again. */
  readonly canRepeatCommit?: boolean
  /** How the server is asked later whether a transaction was committed. Absent where it cannot tell. */
  readonly commitProbe?: (version: Version) => CommitProbe | undefined
}

/** `head` travels with BEGIN and ends with the transaction; `setting` belongs to the session and is put back. */
export type LockTimeout = { readonly head: SqlStatement } | { readonly setting: SettingChange }

export interface CommitProbe {
  /** Gives the transaction a number, in the column `id`, that outlives it. Travels with BEGIN. */
  readonly head: SqlStatement
  /** A lock's statement that gives the number besides, once it has the lock. Undefined where that cannot be had. */
  readonly inside?: (lock: SqlStatement) => SqlStatement | undefined
  /** Asks, on another connection, what became of that transaction. */
  readonly ask: (id: string) => SqlStatement
  readonly read: (row: Row | undefined) => 'committed' | 'rolled-back' | 'running' | 'unknown'
}

/** How a server says what it is. */
export interface Identity {
  readonly ask: Statement
  /** The version in the answer; undefined when the server is of another dialect that speaks the same protocol. */
  readonly version: (row: Row) => string | undefined
}
