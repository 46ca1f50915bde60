import type { Row } from '../../core/statement.ts'
import type { ListeningDatabase } from './listen.ts'

/** What is used of `mongodb`'s `MongoClient`. */
export interface MongodbClient<S, D = MongodbDatabase<S>> {
  startSession(): S
  db(name?: string): D
}

/** What the caller's work receives. Only what is given the session is part of the transaction. */
export interface MongodbTransaction<S, D> {
  readonly session: S
  readonly db: D
}

/** What is used of a `Db` of `mongodb`. */
export interface MongodbDatabase<S> extends ListeningDatabase {
  command(command: Row, options?: { session: S }): Promise<Row>
  runCursorCommand(command: Row, options: { session: S }): { toArray(): Promise<readonly Row[]> }
}

/** What is used of a `ClientSession` of `mongodb`. */
export interface MongodbSession {
  readonly id?: unknown
  /** Dirty once the driver has lost a connection under an operation of the session. */
  readonly serverSession?: { readonly isDirty: boolean }
  inTransaction(): boolean
  startTransaction(options: typeof majority): void
  commitTransaction(): Promise<unknown>
  abortTransaction(): Promise<unknown>
  endSession(): Promise<void>
}

/** Reads what most members have, all of it as of one moment, and writes to most of them. */
export const majority: {
  readConcern: { level: 'snapshot' }
  writeConcern: { w: 'majority' }
  readPreference: 'primary'
} = { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' }, readPreference: 'primary' }
