import type { Isolation } from './request.ts'
import type { Row, SqlStatement, Statement } from './statement.ts'

/** How a transaction starts. */
export interface TransactionStart {
  readonly isolation?: Isolation
  readonly access?: 'read-write' | 'read-only'
  /** The plan's own word behind BEGIN, such as `IMMEDIATE`. */
  readonly mode?: string
  /** Statements without parameters that belong to the start: in the same message as BEGIN where the driver can. */
  readonly head?: readonly SqlStatement[]
}

/**
 * One connection that nobody else uses until it is released: the port through which every lock reaches a database.
 *
 * An adapter writes it once per driver. It sends what it is given; it never waits, retries or decides.
 */
export interface Session<Tx = unknown> {
  /** What the caller's work receives to run its own statements in the transaction. There from `begin` to its end. */
  readonly tx: Tx
  /** Rejects with the driver's own error, untouched. */
  run: (statement: Statement) => Promise<readonly Row[]>
  /**
   * Gives the rows of the last statement of `head`.
   *
   * Rejects with `LockUsageError`, and sends nothing, where the database has no such transaction.
   */
  begin: (start?: TransactionStart) => Promise<readonly Row[]>
  /** Rejects where the database has rolled back before; `cause` is then the first error since the beginning. */
  commit: () => Promise<void>
  /** Is no error where there is nothing to roll back. */
  rollback: () => Promise<void>
  /** Gives the connection back. Only for a session whose state is known to be clean. */
  release: () => Promise<void>
  /** Ends the connection for good, and with it whatever it holds or waits for on the server. */
  destroy: (why: Error) => Promise<void>
}

/** Where sessions come from: a pool, or a file that can be opened again. */
export interface Sessions<Tx = unknown> {
  open: () => Promise<Session<Tx>>
  /**
   * The name of what the sessions of this process take turns for, because only one of them can write at a time.
   *
   * Absent where the server queues writers itself.
   */
  readonly lane?: () => string
}
