import { randomBytes } from 'node:crypto'

import { MongoClient, type ClientSession, type Document, type MongoClientOptions } from 'mongodb'

import type { DocumentCommand } from '../../../src/core/statement.ts'
import { withHeldName } from '../../engines/held-name.ts'
import { errorOf, type Stage } from '../stage.ts'

export function command(body: Document): DocumentCommand {
  return { command: body }
}

/** Adds to the number of an item, with more fields of the command. */
export function increment(id: number, more: Document = {}): DocumentCommand {
  return command({ update: 'items', updates: [{ q: { _id: id }, u: { $inc: { n: 1 } } }], ...more })
}

/** A client of the driver itself, known to the server by a name of its own. */
export async function client(stage: Stage, options: MongoClientOptions = {}): Promise<MongoClient> {
  const raw = new MongoClient(stage.engine.server.url, {
    appName: `errors-${randomBytes(6).toString('hex')}`,
    retryWrites: false,
    ...options,
  })
  stage.afterwards(() => raw.close(true))
  return raw.connect()
}

/** A transaction of such a client that has written something. The server is told to forget it afterwards. */
export async function transaction(stage: Stage, raw: MongoClient): Promise<ClientSession> {
  const session = raw.startSession()
  session.startTransaction()
  await raw.db().collection('marks').insertOne({ name: 'before' }, { session })
  stage.afterwards(() => tellServer(stage, { killSessions: [session.id] }))
  return session
}

/**
 * The error of `work`, while the server itself fails that client's commands by its own means for tests.
 *
 * Only a server that was started with `enableTestCommands` has them. They are one switch for the whole server, so only
 * one test at a time may use it, in whichever process.
 */
export async function errorWhileFailing(
  stage: Stage,
  { raw, times = 1, ...how }: { readonly raw: MongoClient; readonly times?: number } & Document,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const data = { ...how, appName: raw.options.appName }
  const failAndWork = async (): Promise<unknown> => {
    await tellServer(stage, { configureFailPoint: 'failCommand', mode: { times }, data })
    return errorOf(work())
  }
  return withHeldName('failCommand of MongoDB', failAndWork, () => {})
}

/** On a client that nothing has been done to. */
async function tellServer(stage: Stage, body: Document): Promise<void> {
  const other = await new MongoClient(stage.engine.server.url).connect()
  await other.db('admin').command(body)
  await other.close()
}
