import { MongoClient, MongoError, type ClientSession, type Db, type Document } from 'mongodb'

import type { Target } from '../../../src/core/request.ts'
import { createLocks } from '../../../src/entries/mongodb.ts'
import type { Driver, Store } from '../shop.ts'

/** What the work is given. */
export interface MongodbTx {
  readonly session: ClientSession
  readonly db: Db
}

export const driver: Driver<MongodbTx> = {
  hasProcesses: true,
  // The second change of a document is refused; an added one conflicts with nothing.
  controls: { change: 'before', add: 'in-transaction' },
  waits: 'transaction',
  isOwnError: (error) => error instanceof MongoError,
  takesText: false,
  refusesUnknownTable: false, // a collection that is not there is an empty one
  canBeClosed: true,
  connect: async (url, size) => {
    const client = await new MongoClient(url, { maxPoolSize: size }).connect()
    return {
      ...store(client.db()),
      locks: createLocks(client),
      sessionId: ({ session }) => String(session.id?.id.toUUID().toString()),
      settings: async () => [], // a session has none
      tune: async () => {},
      close: () => client.close(),
    }
  },
}

function store(db: Db): Store<MongodbTx> {
  const within = (tx: MongodbTx | undefined): { session?: ClientSession } =>
    tx === undefined ? {} : { session: tx.session }
  return {
    find: (tx, target) => db.collection(nameOf(target)).find(filterOf(target), within(tx)).toArray(),
    all: (table) => db.collection(table).find().toArray(),
    change: async (tx, target, values) =>
      void (await db.collection(nameOf(target)).updateMany(filterOf(target), { $set: values }, within(tx))),
    add: async (tx, table, row) => void (await db.collection(table).insertOne({ ...row }, within(tx))),
    create: async (table, [key = 'id']) => {
      await db.createCollection(table)
      await db.collection(table).createIndex({ [key]: 1 }, { unique: true })
    },
    drop: async (table) => void (await db.dropCollection(table)),
  }
}

function filterOf({ key }: Target): Document {
  return Object.fromEntries(
    Object.entries(key).map(([field, value]) => [field, { $in: Array.isArray(value) ? value : [value] }]),
  )
}

function nameOf({ table }: Target): string {
  return typeof table === 'string' ? table : table.join('.')
}
