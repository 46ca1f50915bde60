import { setTimeout as pause } from 'node:timers/promises'

import { UUID, type Document, type MongoClient } from 'mongodb'

import type { Engine, Server } from './engine.ts'
import { connectMongodb } from './mongodb-client.ts'
import { openMongodbSession, type MongodbSession } from './mongodb-session.ts'
import { intoMongodbDatabase } from './mongodb-url.ts'
import { databaseName } from './own-database.ts'

/** Makes a database on the server and observes it from a client outside of it. */
export async function connectToMongodb(server: Server): Promise<Engine> {
  const database = databaseName()
  const url = intoMongodbDatabase(server.url, database)
  const observer = await connectMongodb(server.url, { appName: `${database}-observer` })
  const opened = new Set<MongodbSession>()
  const admin = observer.db('admin')
  const killAll = async (ids: readonly UUID[]): Promise<void> =>
    void (await admin.command({ killSessions: ids.map((id) => ({ id })) }))
  const kill = (id: string): Promise<void> => killAll([new UUID(id)])
  return {
    server: { ...server, url },
    canObserveWaiting: true, // a write outside of a transaction waits for one; inside, a conflict is an error
    open: async () => {
      const session = await openMongodbSession(url, kill)
      opened.add(session)
      return session
    },
    isWaiting: ({ id }) => isWaiting(observer, new UUID(id)),
    // ends what it runs and its transaction; the connection stays, since a server cuts none off
    kill: ({ id }) => kill(id),
    leftovers: async () => [
      ...(await operations(observer, inDatabase(database))).map(describe),
      ...[...opened]
        .filter((session) => session.hasSilentTransaction())
        .map(({ id }) => `session ${id}: has begun`),
    ],
    close: async () => {
      // an open transaction would keep the database from being dropped
      const ids = (await operations(observer, inDatabase(database))).flatMap(({ lsid }) => lsid?.id ?? [])
      if (ids.length > 0) await killAll(ids)
      await observer.db(database).dropDatabase()
      await observer.close()
    },
  }
}

/** What runs on the server now, and the transactions that are open while nothing runs in them. */
async function operations(observer: MongoClient, match: Document): Promise<readonly Document[]> {
  const all = { $currentOp: { allUsers: true, idleSessions: true } }
  return observer
    .db('admin')
    .aggregate([all, { $match: match }])
    .toArray()
}

/**
 * Transactions name no database, so they are known by the client's name, which our address carries. What no client
 * runs is the server's own work, such as the removal of leases that are over.
 */
function inDatabase(database: string): Document {
  return {
    $or: [
      { appName: { $regex: `^${database}(-|$)` }, transaction: { $exists: true } },
      { active: true, client: { $exists: true }, ns: { $regex: `^${database}\\.` } },
    ],
  }
}

function describe({ lsid, active, op, ns, transaction }: Document): string {
  const what = active === true ? `runs ${op} on ${ns}` : 'is idle'
  return `session ${lsid?.id ?? 'unknown'}: ${what}${transaction === undefined ? '' : ' in an open transaction'}`
}

/**
 * For a lock on a collection the server says that it waits. For a document it does not: a write that meets an open
 * transaction is tried again every few milliseconds, and each try is counted. So who waits is who keeps counting.
 */
async function isWaiting(observer: MongoClient, id: UUID): Promise<boolean> {
  const look = async (): Promise<Document> =>
    (await operations(observer, { 'lsid.id': id, active: true }))[0] ?? { writeConflicts: 0 }
  const before = await look()
  const deadline = performance.now() + 200
  for (let now = before; ; now = await look()) {
    if (now.waitingForLock === true) return true
    if ((now.writeConflicts ?? 0) === 0 || now.opid !== before.opid) return false
    if (now.writeConflicts > before.writeConflicts) return true
    if (performance.now() > deadline) return false // the conflicts are over, and it does something else
    await pause(5)
  }
}
