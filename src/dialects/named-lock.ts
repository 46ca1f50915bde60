import type { Isolation } from '../core/request.ts'
import type { Row, SqlStatement, Statement } from '../core/statement.ts'
import type { Unsupported } from '../core/support.ts'

/** What the algorithms for named locks have to know of a dialect. */
export interface NamedLockTraits {
  /** What keeps a lock that outlives its transaction: the connection it was taken on, or a lease. */
  readonly keptBy: 'connection' | 'lease'
  /** Asks why this server cannot be trusted with locks that belong to a connection. Absent: there is no reason. */
  readonly doubts?: ServerDoubts
  /** The isolation level of a transaction that asks for none, where the right lock depends on it. */
  readonly defaultIsolation?: {
    readonly ask: SqlStatement
    /** Asks a transaction that is under way for its own. @default as `ask` */
    readonly inside?: SqlStatement
    readonly read: (row: Row | undefined) => Isolation
    /**
     * Whether BEGIN says the level that a lock was planned for, at no cost: another connection may have another default.
     * Absent where the lock of a transaction's beginning does not depend on it.
     */
    readonly goesWithBegin?: true
  }
  /** Whether a lock may be taken when the transaction is under way: would it still see what the last holder stored? */
  readonly canJoin: (isolation: Isolation | undefined) => boolean
  /**
   * A statement without parameters that does the same as a lock's own, so that it can travel with BEGIN. Undefined for
   * a statement of which that cannot be had.
   */
  readonly inHead?: (statement: SqlStatement) => SqlStatement | undefined
  /** Such a statement with columns beside the lock, computed in their order. Undefined where it takes none. */
  readonly withColumns?: (lock: SqlStatement, beside: BesideLock) => SqlStatement | undefined
}

/** Columns that are computed before and after a lock is taken, by its own statement. */
export interface BesideLock {
  readonly before?: string | undefined
  readonly behind?: string | undefined
}

/** Facts about a server that make its connection locks worthless. */
export interface ServerDoubts {
  readonly ask: Statement
  /** Why such a lock is refused here, or undefined when all is well. */
  readonly read: (rows: readonly Row[]) => Unsupported | undefined
  /**
   * Tells, in the column `backend`, the number of the server's side of the connection, and in `turn` a number that
   * rises by one with each transaction on that side. The answer to `ask` has both. Absent where nothing is known that
   * takes a connection's server away.
   */
  readonly backend?: SqlStatement
}
