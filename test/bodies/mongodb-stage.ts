import type { ClientSession, Collection, CommandStartedEvent, Db, Document, MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'

import { createLocks, type MongodbLocks, type MongodbTransaction } from '../../src/entries/mongodb.ts'
import { namedMongoClient, whileFailing, type FailData } from '../engines/mongodb-failing.ts'
import { until, type EngineContext } from '../engines/use.ts'

export type Tx = MongodbTransaction<ClientSession, Db>

interface Note extends Document {
  readonly _id: number
}

/** What bodies that misbehave are tried with: notes, of which number 0 is there before each test. */
export interface MongodbStage {
  readonly client: () => MongoClient
  readonly locks: () => MongodbLocks<Tx>
  readonly insert: (tx: Tx, _id: number) => Promise<unknown>
  readonly stored: () => Promise<readonly number[]>
  /** Settles when the client has sent such a command next; whoever hears it comes before the answer. */
  readonly sent: (name: string) => Promise<CommandStartedEvent>
  /** Runs `work` while commands of this client fail as `data` says. */
  readonly failing: <T>(data: FailData, work: () => Promise<T>) => Promise<T>
}

/** After each test nothing may be left on the server. */
export function mongodbStage(context: EngineContext): MongodbStage {
  let client: MongoClient | undefined
  const theClient = (): MongoClient => client ?? expect.unreachable('the client is there only inside a test')
  const notes = (): Collection<Note> => theClient().db().collection<Note>('note')
  beforeAll(async () => {
    client = await namedMongoClient(context.engine.server.url, { monitorCommands: true })
    await client.db().createCollection('note')
    await createLocks(client).transaction(async () => {}) // what is tried once
  })
  beforeEach(async () => {
    await notes().deleteMany({})
    await notes().insertOne({ _id: 0, n: 0, version: 1 })
  })
  afterEach(() =>
    until(async () => (await context.engine.leftovers()).length === 0, 'a server on which nothing is left'),
  )
  afterAll(() => client?.close())
  return {
    client: theClient,
    locks: () => createLocks(theClient()),
    insert: ({ db, session }, _id) => db.collection<Note>('note').insertOne({ _id }, { session }),
    stored: async () => (await notes().find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id),
    sent: (name) => nextCommand(theClient(), name),
    failing: (data, work) => whileFailing(context.engine.server.url, theClient(), data, work),
  }
}

function nextCommand(client: MongoClient, name: string): Promise<CommandStartedEvent> {
  return new Promise((resolve) => {
    const hear = (event: CommandStartedEvent): void => {
      if (event.commandName !== name) return
      client.off('commandStarted', hear)
      resolve(event)
    }
    client.on('commandStarted', hear)
  })
}
