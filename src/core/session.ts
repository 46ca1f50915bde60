import type { ErrorLike } from './classification.ts'
import type { CommitOutcomeUnknownError, LockUsageError, RetryableCode } from './errors.ts'
import type { Isolation } from './request.ts'
import type { Row, SqlStatement, Statement } from './statement.ts'

/** How a transaction starts. */
export interface TransactionStart {
  readonly isolation?: Isolation
  readonly access?: 'read-write' | 'read-only'
  /** The plan's own word behind BEGIN, such as `IMMEDIATE`. */
  readonly mode?: string
  /** What begins it in place of BEGIN: statements without parameters. Only for a session that `beginsBy` them. */
  readonly by?: readonly SqlStatement[]
  /** Statements without parameters that belong to the start: in the same message as BEGIN where the driver can. */
  readonly head?: readonly SqlStatement[]
}

/** What is known of a beginning that travels with a statement. @default neither */
export interface RideTerms {
  /** Whether it waits for locks. */
  readonly waits?: boolean
  /** Whether there is a limit for its answer, which that to the statement must not count against. */
  readonly isLimited?: boolean
}

/** A transaction of which everything is known before it begins. */
export interface WholeTransaction {
  /** How it starts. Nothing in its head waits. */
  readonly start: TransactionStart
  /** What may have to wait: statements without parameters. */
  readonly locks: readonly SqlStatement[]
  readonly statements: readonly SqlStatement[]
}

/** What becomes of it. When a part fails, the database runs nothing behind it, and what is still to come rejects. */
export interface WholeCourse {
  /** Gives the rows of the last statement of the head, before a lock is waited for. */
  readonly begun: Promise<readonly Row[]>
  readonly locked: Promise<void>
  /** Gives the rows of each statement, when COMMIT has been answered. */
  readonly stored: Promise<readonly (readonly Row[])[]>
  /** Whether the database may have run any of it: otherwise nothing can be stored. */
  readonly mayHaveRun: () => boolean
  /** Asks the server to end what it is at. It may be done all the same: `stored` tells, unless the server is silent. */
  readonly cancel: () => void
}

/** Nothing was committed, because the connection had ended before. */
export class UnsentCommit extends Error {
  override readonly name = 'UnsentCommit'

  /** `cause` is the driver's own error. */
  constructor(cause: unknown) {
    super('COMMIT was not sent', { cause })
  }
}

/** What a session has seen of the statements in its transaction, whoever has sent them. */
export interface Witness {
  /** What they have failed with since it began. Of very many, the first ones and the newest. */
  readonly failures: readonly unknown[]
  /** The error since which the database is not known to have the transaction, if there is one. Absent where nobody sees. */
  readonly ending?: unknown
  /** Whether the driver itself says of an error that a transaction has lost. Told where not every failure is seen. */
  readonly isLoss?: (error: ErrorLike) => boolean
  /** Told where a return to a savepoint gives up the locks that were taken since. */
  readonly savepoints?: SavepointWatch | undefined
  /** How the transaction stood when a statement of it failed with this error. Absent where nobody sees. */
  readonly failureOf?: (error: unknown) => StatementFailure | undefined
  /** Put there by whoever wants to hear of the statements. The field is absent where nobody sees them. */
  ear?: StatementEar | undefined
}

/** Hears of the statements of a transaction, of the work and our own, in the order in which they are sent. */
export interface StatementEar {
  /** `params`: the values for its placeholders, where the driver shows them. */
  sent: (text: string, params?: unknown) => void
  /** The oldest that is under way has been answered. */
  answered: (error?: unknown) => void
}

/** A statement of a transaction has failed. */
export interface StatementFailure {
  /** When that was heard of, on the monotonic clock. */
  readonly at: number
  /** Its text, where that is known. */
  readonly text: string | undefined
  /** The texts that were sent by then, in their order: of very many, the first ones and the newest. */
  readonly sent: readonly string[]
}

/** The savepoints that the work has set in a transaction, and its returns to them. */
export interface SavepointWatch {
  /** Rises with every savepoint and every return. */
  readonly now: number
  /** How often the work has gone back. */
  readonly returns: number
  /** Called when it goes back: what was taken at that `now` or later is given up. */
  onReturn: ((since: number) => void) | undefined
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
  /**
   * Asks whether `begin` may heed `by` on this connection: rejects where autocommit is off, which could not be put back.
   * Absent where it heeds none: then a lock that needs it is refused.
   */
  readonly beginsBy?: () => Promise<void>
  /**
   * As `begin`, but together with the next statement on `tx`, whoever sends it, in one round trip. Settles when it has
   * been answered, and always does.
   *
   * When it fails, neither that statement nor any other is run until `rollback`. A `rollback` before it is answered
   * rejects if the beginning `waits` for locks, unless nothing has been sent yet. Absent where the driver cannot.
   */
  readonly ride?: (start?: TransactionStart, terms?: RideTerms) => Promise<readonly Row[]>
  /**
   * Whether a beginning may `ride` that waits for locks: the work is then called before they are granted, so whoever
   * made the sessions has to have asked for it. @default false
   */
  readonly ridesWithLocks?: true
  /**
   * Sends a transaction as a whole, from its beginning to COMMIT. Undefined, and nothing is sent, where one of the
   * statements cannot travel so. Absent where the driver cannot: a database that goes on behind a failure must be asked in
   * between.
   */
  readonly whole?: (whole: WholeTransaction) => Promise<WholeCourse | undefined>
  /**
   * The work has returned: what fails from now on, nobody waits for, and `commit` rejects. Waits until nothing of the work
   * is under way, and nothing more has followed from what was: a function that nobody waits for sends its next statement
   * when the one before is answered. Undefined where there is nothing to wait for. Absent where `commit` does the same.
   */
  readonly untilIdle?: () => Promise<void> | undefined
  /**
   * Rejects where the database has rolled back before; `cause` is then the first error since the beginning. Rejects with
   * {@link UnsentCommit} where the connection had ended before COMMIT could be sent.
   */
  commit: () => Promise<void>
  /** Is no error where there is nothing to roll back. */
  rollback: () => Promise<void>
  /**
   * Why some of the work is stored, or may be, although the last transaction was rolled back: the work itself has ended
   * it before. Absent where the adapter does not know.
   */
  readonly stored?: () => LockUsageError | CommitOutcomeUnknownError | undefined
  /** Calls the work where a library finds the transaction without being told. Absent where there is no such place. */
  readonly around?: <T>(work: () => Promise<T>) => Promise<T>
  /**
   * What the work wants done when its transaction is stored: called when the connection has been given back. Undefined
   * where that is nothing. Rejects with a `LockUsageError` whose `isStored` is true. Absent where work has no way to say.
   */
  readonly whenStored?: () => Promise<void> | undefined
  /** Gives the connection back. Only for a session whose state is known to be clean. */
  release: () => Promise<void>
  /** Ends the connection for good, and with it whatever it holds or waits for on the server. */
  destroy: (why: Error) => Promise<void>
  /** Tells, at most once, that the connection has broken. Gives what stops it. Absent where the driver tells nobody. */
  readonly onLost?: (tell: (why: Error) => void) => () => void
  /** Why the connection is known to have broken. Absent where only its statements tell. */
  readonly whyLost?: () => Error | undefined
  /** Absent where the driver shows nothing of what the work sends: then an error is judged by itself alone. */
  readonly witness?: Witness
  /** The server's number for this connection as the log-in told it. Behind a pooler it is not the server's own. */
  readonly backend?: string
}

/** What a `release` gives that has nothing to wait for: whoever meets it need not wait either. */
export const released: Promise<void> = Promise.resolve()

/** Where sessions come from: a pool, or a file that can be opened again. */
export interface Sessions<Tx = unknown> {
  /** What events call it: the part of the package that made it. @default 'custom' */
  readonly adapter?: string
  open: () => Promise<Session<Tx>>
  /** What they come from, as a pool: all that come from one are of one database. Absent where nothing tells. */
  readonly source?: object
  /**
   * The name of what the sessions of this process take turns for, because only one of them can write at a time.
   *
   * Absent where the server queues writers itself.
   */
  readonly lane?: () => string
  /** Whether all of them are one connection, so that one has to end before another can be opened. @default false */
  readonly isOneConnection?: boolean
  /** What `code` of a `RetryableTransactionError` is for those who use this client: what their own code looks for. */
  readonly retryableCode?: RetryableCode
  /**
   * Hears of messages on a topic: `wake` is told each message's text. Gives what ends the listening.
   *
   * A message can be lost, so whoever listens also looks from time to time; when the connection breaks, `wake` is told
   * the empty text: look now. Rejects where nothing would be heard, as behind a pooler, and where the listener would
   * take the last connection of a pool. Absent where the driver or the engine cannot tell.
   */
  readonly listen?: (topic: string, wake: (message: string) => void) => Promise<() => Promise<void>>
}
