import { setTimeout as pause } from 'node:timers/promises'
import type { Session, Sessions, TransactionStart } from '../core/session.ts'
import type { DocumentCommand, Row } from '../core/statement.ts'
import { listenIn, type ListeningDatabase } from './mongodb-listen.ts'
import { writeErrorIn } from './mongodb-reply.ts'
import { commandOnly } from './statement-kind.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'
import { withinSnapshot, withoutHead, withoutMode, withoutReadOnly } from './transaction-start.ts'

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

export interface MongodbDatabase<S> extends ListeningDatabase {
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
export function sessions<S extends MongodbSession, D extends MongodbDatabase<S>>(
  client: MongodbClient<S, D>,
  options: MongodbSessionOptions = {},
): Sessions<MongodbTransaction<S, D>> {
  return {
    open: async () => sessionOf(client, { session: client.startSession(), db: client.db(options.database) }),
    listen: listenIn(() => client.db(options.database)),
  }
}

function sessionOf<S extends MongodbSession, D extends MongodbDatabase<S>>(
  client: MongodbClient<S, D>,
  tx: MongodbTransaction<S, D>,
): Session<MongodbTransaction<S, D>> {
  const { session, db } = tx
  const failure = firstFailure()
  const commands = endable(({ command, database }) =>
    run(database === undefined ? db : client.db(database), command, session),
  )
  return {
    tx,
    run: (statement) => failure.watch(() => commands.send(commandOnly(statement))),
    begin: async (start = {}) => {
      checkStart(start)
      failure.forget()
      session.startTransaction(majority)
      return []
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
      await commands.end(() => killSession(client, session))
      await session.endSession()
    },
  }
}

/** How long a command that was on its way when its session was destroyed is waited for. */
const lastCommandMs = 2000

interface Endable {
  readonly send: (command: DocumentCommand) => Promise<readonly Row[]>
  readonly end: (kill: () => Promise<void>) => Promise<void>
}

/** Commands that can be ended: a command that reaches the server after the first kill begins the transaction anew. */
function endable(runOne: Endable['send']): Endable {
  const running = new Set<Promise<unknown>>()
  let isEnded = false
  return {
    send: async (command) => {
      if (isEnded) throw new Error('the session was destroyed')
      const answer = runOne(command)
      running.add(answer)
      return answer.finally(() => running.delete(answer))
    },
    end: async (kill) => {
      isEnded = true
      const last = Promise.allSettled(running)
      await kill()
      if (running.size === 0) return
      await Promise.race([last, pause(lastCommandMs, undefined, { ref: false })])
      await kill()
    },
  }
}

/**
 * Ends what runs in the session and its transaction; a connection belongs to no session. A server that cannot be
 * reached ends both when their time is over.
 */
async function killSession<S extends MongodbSession, D extends MongodbDatabase<S>>(
  client: MongodbClient<S, D>,
  session: S,
): Promise<void> {
  const command = { killSessions: [session.id] }
  await client
    .db('admin')
    .command(command)
    .catch(() => {})
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
  withoutHead(start)
  withoutReadOnly(start)
  withinSnapshot(start)
}
