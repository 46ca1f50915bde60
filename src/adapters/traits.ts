import type { ClientKeeper } from './pg/guard-kept.ts'
import type { SettingChange } from '../core/plan.ts'
import type { TransactionStart } from '../core/session.ts'
import type { Row, SqlStatement, Value } from '../core/statement.ts'
import type { BodyTraits } from './transaction-body.ts'

/** What a query library that sits on a driver cannot know of that driver by itself. */
export interface DriverTraits {
  /**
   * The messages that begin a transaction; undefined where no statement can, and the connection has a method for it.
   * Refuses what the database cannot give. `connection`: the library's own, on which they are sent.
   */
  readonly begin: (start: TransactionStart, connection?: object) => readonly string[] | undefined
  /** Whether `begin` heeds what begins a transaction in place of BEGIN. @default not */
  readonly beginsBy?: true
  /** How a statement of the work can end its transaction. */
  readonly body: BodyTraits
  /** Asks the database whether a transaction is open on the connection. */
  readonly isInTransaction: (send: (text: string) => Promise<readonly Row[]>) => Promise<boolean>
  /** How a savepoint tells whether the transaction is still the same, where `begin` leaves autocommit off. */
  readonly mark?: {
    readonly set: string
    readonly isThere: (send: (text: string) => Promise<readonly Row[]>) => Promise<boolean>
  }
  /** Whether an error says that the connection had ended before a statement could be sent. Absent where none does. */
  readonly isUnsent?: (error: unknown) => boolean
  /** Refuses a connection that would not do what it is told. Called once for each. */
  readonly check?: (send: (text: string) => Promise<readonly Row[]>) => Promise<void>
  /** A value as the driver can send it. */
  readonly toDriver: (value: Value) => unknown
  /** Makes a connection of the library's safe to be lent: told of each before it is used. */
  readonly guard?: (connection: ClientKeeper) => Promise<void>
  /** Changed for as long as a session has the connection, and put back after it. */
  readonly setting?: SettingChange
  /**
   * Takes off a connection what a rollback leaves on it, or ends it: for a library that cannot end one connection of
   * its pool.
   */
  readonly cleanUp: readonly SqlStatement[]
}
