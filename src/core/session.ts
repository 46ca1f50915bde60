import type { Isolation } from './request.ts'
import type { Row, Statement } from './statement.ts'

/** How a transaction starts. */
export interface TransactionStart {
  readonly isolation?: Isolation
  readonly access?: 'read-write' | 'read-only'
  /** The plan's own word behind BEGIN, such as `IMMEDIATE`. */
  readonly mode?: string
}

/**
 * One connection that nobody else uses until it is released: the port through which every lock reaches a database.
 *
 * An adapter writes it once per driver. It sends what it is given; it never waits, retries or decides.
 */
export interface Session {
  /** Rejects with the driver's own error, untouched. */
  run: (statement: Statement) => Promise<readonly Row[]>
  /** Rejects with `LockUsageError`, and sends nothing, where the database has no such transaction. */
  begin: (start?: TransactionStart) => Promise<void>
  /** Rejects where the database has rolled back before; `cause` is then the first error since the beginning. */
  commit: () => Promise<void>
  /** Is no error where there is nothing to roll back. */
  rollback: () => Promise<void>
  /** Gives the connection back. Only for a session whose state is known to be clean. */
  release: () => Promise<void>
  /** Ends the connection for good: whatever it holds on the server goes with it. */
  destroy: (why: Error) => Promise<void>
}

/** Where sessions come from: a pool, or a file that can be opened again. */
export interface Sessions {
  open: () => Promise<Session>
}
