import { createLocks, type MongodbLocks, type MongodbTransaction } from 'holdfast/mongodb'
import { MongoClient, type ClientSession, type Db } from 'mongodb'

import { newName, urlOf } from './database.ts'

export interface OpenMongodb extends AsyncDisposable {
  /** Connects as each process of an application does: with a client and with locks of its own. */
  readonly connect: () => Promise<{ readonly locks: MongodbLocks<Tx>; readonly db: Db }>
}

type Tx = MongodbTransaction<ClientSession, Db>

/** Makes a database on a replica set. At the end it is taken away. */
export async function openMongodb(): Promise<OpenMongodb> {
  const name = newName()
  const clients: MongoClient[] = []
  const connect = async (): Promise<MongoClient> => {
    const client = await new MongoClient(urlOf('mongodb')).connect()
    clients.push(client)
    return client
  }
  const admin = await connect()
  // as `holdfast schema mongodb` prints it; without it the first lease makes the collection
  await admin.db(name).createCollection('_leases')
  return {
    connect: async () => {
      const client = await connect()
      return { locks: createLocks(client, { database: name }), db: client.db(name) }
    },
    [Symbol.asyncDispose]: async () => {
      await admin.db(name).dropDatabase()
      for (const client of clients) await client.close()
    },
  }
}
