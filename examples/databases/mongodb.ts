import type { Value } from 'holdfast'
import { createLocks, type MongodbTransaction } from 'holdfast/mongodb'
import { MongoClient, type ClientSession, type Db } from 'mongodb'

import type { Database } from './database.ts'
import type { Tables, Values } from './tables.ts'

export const database: Database<MongodbTransaction<ClientSession, Db>> = {
  isBlindToOthers: false, // the second change of a document is refused
  connect: async ({ url, name, size }) => {
    const client = await new MongoClient(url, { maxPoolSize: size }).connect()
    return {
      locks: createLocks(client, { database: name }),
      // without the session a call is no part of the transaction
      tables: (tx) => documents(client.db(name), tx?.session),
      close: () => client.close(),
    }
  },
}

function documents(db: Db, session: ClientSession | undefined): Tables {
  const options = session === undefined ? {} : { session }
  return {
    create: async (table) => {
      await db.createCollection(table)
      await db.collection(table).createIndex({ id: 1 }, { unique: true })
    },
    find: async <R extends object>(table: string, values: Values = {}) =>
      db
        .collection(table)
        .find<R>({ ...values }, options)
        .sort({ id: 1 })
        .toArray(),
    insert: (table, row) => db.collection(table).insertOne({ ...row }, options),
    update: (table, id: Value, changes) =>
      db.collection(table).updateOne({ id }, { $set: { ...changes } }, options),
  }
}
