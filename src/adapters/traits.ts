import type { SettingChange } from '../core/plan.ts'
import type { TransactionStart } from '../core/session.ts'
import type { SqlStatement, Value } from '../core/statement.ts'

/** What a query library that sits on a driver cannot know of that driver by itself. */
export interface DriverTraits {
  /**
   * Refuses what the database cannot give. Gives the statement that begins the transaction where the library's own
   * way has no word for what is asked.
   */
  readonly begin: (start: TransactionStart) => string | undefined
  /** A value as the driver can send it. */
  readonly toDriver: (value: Value) => unknown
  /** Changed for as long as a session has the connection, and put back after it. */
  readonly setting?: SettingChange
  /**
   * Takes off a connection what a rollback leaves on it, or ends it: for a library that cannot end one connection of
   * its pool.
   */
  readonly cleanUp: readonly SqlStatement[]
}
