import type { Document, MongoClient } from 'mongodb'

import { isSql, type Row } from '../../src/core/statement.ts'
import type { EngineSession } from './engine.ts'
import { connectMongodb } from './mongodb-client.ts'

export interface MongodbSession extends EngineSession {
  /** Whether a transaction is begun of which the server has not heard: it does so with the first command. */
  readonly hasSilentTransaction: () => boolean
}

/** One logical session of the server, on a client of its own with one connection. `kill` ends one on the server. */
export async function openMongodbSession(
  url: string,
  kill: (id: string) => Promise<void>,
): Promise<MongodbSession> {
  const client = await connectMongodb(url, {
    maxPoolSize: 1,
    retryReads: false,
    retryWrites: false,
    // the server is there: a machine may be ten times slower
    serverSelectionTimeoutMS: 120_000,
  })
  const isBroken = watchConnection(client)
  const session = client.startSession()
  const database = client.db()
  await database.command({ ping: 1 }, { session }) // now the one connection is there
  const id = session.id?.id.toUUID().toString() ?? ''
  let isSilent = false
  let running = 0
  const tell = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isBroken()) throw new Error('the connection of this session is broken')
    isSilent = false
    running += 1
    const answer = await work().finally(() => (running -= 1))
    if (isBroken()) throw new Error('the connection of this session broke meanwhile')
    return answer
  }
  return {
    id,
    hasSilentTransaction: () => isSilent,
    run: async (statement) => {
      if (isSql(statement)) throw new Error('MongoDB runs commands only')
      return tell(async () => rowsOf(await database.command({ ...statement.command }, { session })))
    },
    begin: async (mode) => {
      if (mode !== undefined) throw new Error(`MongoDB has no way ${mode} to begin a transaction`)
      session.startTransaction({ readConcern: { level: 'majority' }, writeConcern: { w: 'majority' } })
      isSilent = true
    },
    commit: () => tell(() => session.commitTransaction()),
    rollback: () => tell(() => session.abortTransaction()),
    close: async () => {
      isSilent = false
      // a write that waits goes on waiting after its client has gone, and then writes
      if (running > 0) await kill(id).catch(() => {})
      await session.endSession().catch(() => {}) // aborts what is open; the server may be gone
      await client.close()
    },
  }
}

/**
 * What the caller may take for the result, in the reply's own terms: the documents of a `find` or `aggregate` (the
 * first batch), the document of a `findAndModify`, no row when it found none, and else the whole reply as one row.
 */
function rowsOf(reply: Document): readonly Row[] {
  if (reply.cursor !== undefined) return reply.cursor.firstBatch
  if ('value' in reply && 'lastErrorObject' in reply) return reply.value === null ? [] : [reply.value]
  return [reply]
}

/** The driver opens a new connection where the first broke, without a word. Here that ends the session. */
function watchConnection(client: MongoClient): () => boolean {
  let connections = 0
  let isBroken = false
  client.on('connectionCreated', () => (isBroken = (connections += 1) > 1 || isBroken))
  client.on('connectionClosed', () => (isBroken = true))
  client.on('connectionPoolCleared', () => (isBroken = true))
  return () => isBroken
}
