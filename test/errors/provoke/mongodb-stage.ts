import { MongoClient, type ClientSession, type Document, type MongoClientOptions } from 'mongodb'

import type { DocumentCommand } from '../../../src/core/statement.ts'
import { namedMongoClient, whileFailing, type FailData } from '../../engines/mongodb-failing.ts'
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
  const raw = await namedMongoClient(stage.engine.server.url, { retryWrites: false, ...options })
  stage.afterwards(() => raw.close(true))
  return raw
}

/** A transaction of such a client that has written something. The server is told to forget it afterwards. */
export async function transaction(stage: Stage, raw: MongoClient): Promise<ClientSession> {
  const session = raw.startSession()
  session.startTransaction()
  await raw.db().collection('marks').insertOne({ name: 'before' }, { session })
  stage.afterwards(() => tellServer(stage, { killSessions: [session.id] }))
  return session
}

/** The error of `work`, while the server itself fails that client's commands. */
export function errorWhileFailing(
  stage: Stage,
  { raw, ...data }: FailData & { readonly raw: MongoClient },
  work: () => Promise<unknown>,
): Promise<unknown> {
  return whileFailing(stage.engine.server.url, raw, data, () => errorOf(work()))
}

/** On a client that nothing has been done to. */
async function tellServer(stage: Stage, body: Document): Promise<void> {
  const other = await new MongoClient(stage.engine.server.url).connect()
  await other.db('admin').command(body)
  await other.close()
}
