import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { Row } from '../core/statement.ts'
import { writeErrorIn } from './mongodb-reply.ts'
import { commandOnly } from './statement-kind.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'
import { withinSnapshot, withoutMode, withoutReadOnly } from './transaction-start.ts'

/** What is used of `mongodb`'s `MongoClient`. */
export interface MongodbClient<S extends MongodbSession> {
  startSession(): S
  db(name?: string): MongodbDatabase<S>
}

export interface MongodbDatabase<S> {
  command(command: Row, options?: { session: S }): Promise<Row>
  runCursorCommand(command: Row, options: { session: S }): { toArray(): Promise<readonly Row[]> }
}

export interface MongodbSession {
  readonly id?: unknown
  inTransaction(): boolean
  startTransaction(options: typeof majority): void
  commitTransaction(): Promise<unknown>
  abortTransaction(): Promise<unknown>
  endSession(): Promise<void>
}

export interface MongodbSessionOptions {
  /** @default the one that the client's URL names */
  readonly database?: string
}

/** Reads what most members have, all of it as of one moment, and writes to most of them. */
const majority: {
  readConcern: { level: 'snapshot' }
  writeConcern: { w: 'majority' }
  readPreference: 'primary'
} = { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' }, readPreference: 'primary' }

/** Sessions on a MongoDB deployment. It must be a replica set: a lone server has no transactions. */
export function sessions<S extends MongodbSession>(
  client: MongodbClient<S>,
  options: MongodbSessionOptions = {},
): Sessions {
  return { open: async () => sessionOf(client, client.startSession(), options.database) }
}

function sessionOf<S extends MongodbSession>(client: MongodbClient<S>, session: S, name?: string): Session {
  const database = client.db(name)
  const failure = firstFailure()
  return {
    run: (statement) => failure.watch(() => run(database, commandOnly(statement).command, session)),
    begin: async (start = {}) => {
      checkStart(start)
      failure.forget()
      session.startTransaction(majority)
    },
    commit: async () => {
      // The server has ended it and would say so with a label that asks for another try, however often it is tried.
      if (failure.error !== undefined) throw nothingToCommit(failure.error)
      await session.commitTransaction()
    },
    rollback: async () => {
      if (session.inTransaction()) await session.abortTransaction()
    },
    release: () => session.endSession(),
    destroy: async () => {
      try {
        // ends what runs in the session and its transaction; a connection belongs to no session
        await client.db('admin').command({ killSessions: [session.id] })
      } finally {
        await session.endSession()
      }
    },
  }
}

/** The rows that a command answers with: documents where it finds some, otherwise the reply itself. */
async function run<S>(database: MongodbDatabase<S>, command: Row, session: S): Promise<readonly Row[]> {
  if ('find' in command || 'aggregate' in command)
    return database.runCursorCommand(command, { session }).toArray()
  const reply = await database.command(command, { session })
  const error = writeErrorIn(reply)
  if (error !== undefined) throw error
  if (!('findAndModify' in command)) return [reply]
  return reply.value === null || reply.value === undefined ? [] : [reply.value as Row]
}

function checkStart(start: TransactionStart): void {
  withoutMode(start)
  withoutReadOnly(start)
  withinSnapshot(start)
}
