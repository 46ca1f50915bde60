import { MongoClient, type Document, type MongoClientOptions } from 'mongodb'

/** A client that is connected. What it cannot reach in ten seconds it reports. */
export async function connectMongodb(url: string, options: MongoClientOptions = {}): Promise<MongoClient> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000, ...options })
  try {
    return await client.connect()
  } catch (error) {
    await client.close()
    throw error
  }
}

/** The version of the server at this address. Rejects where it has no transactions. */
export async function mongodbVersion(url: string): Promise<string> {
  return withAdmin(url, async (ask) => {
    const { setName, msg } = await ask({ hello: 1 })
    if (setName === undefined && msg !== 'isdbgrid')
      throw new Error('it is no replica set, so it has no transactions')
    return versionFrom(ask)
  })
}

/** The version of a new server, once it is the primary of a replica set of one; `self` is what it calls itself. */
export async function initiatedVersion(url: string, self: string): Promise<string> {
  return withAdmin(url, async (ask) => {
    const { setName, isWritablePrimary } = await ask({ hello: 1 })
    if (setName === undefined) {
      await ask({
        replSetInitiate: {
          _id: 'rs0',
          members: [{ _id: 0, host: self }],
          // as with the other servers here: no commit waits for a disk (half of the processor's time, and most of the wait)
          writeConcernMajorityJournalDefault: false,
        },
      })
    }
    if (isWritablePrimary !== true) throw new Error('it is not the primary yet')
    return versionFrom(ask)
  })
}

/** The version of a server, whatever it is part of. */
export function plainVersion(url: string): Promise<string> {
  return withAdmin(url, versionFrom)
}

/** Has all that is stored written to the server's files. */
export function flushed(url: string): Promise<void> {
  return withAdmin(url, async (ask) => void (await ask({ fsync: 1 })))
}

type Ask = (command: Document) => Promise<Document>

async function withAdmin<T>(url: string, work: (ask: Ask) => Promise<T>): Promise<T> {
  const client = await connectMongodb(url)
  try {
    return await work((command) => client.db('admin').command(command))
  } finally {
    await client.close()
  }
}

async function versionFrom(ask: Ask): Promise<string> {
  return String((await ask({ buildInfo: 1 })).version)
}
