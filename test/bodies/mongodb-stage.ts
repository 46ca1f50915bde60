import {
  MongoClient,
  type ClientSession,
  type Collection,
  type CommandStartedEvent,
  type Db,
  type Document,
} from 'mongodb'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'

import { createLocks, type MongodbLocks, type MongodbTransaction } from '../../src/entries/mongodb.ts'
import { withHeldName } from '../engines/held-name.ts'
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
  /** Runs `work` while commands fail as `data` says. The fail point is one for the whole server. */
  readonly failing: <T>(data: FailData, work: () => Promise<T>) => Promise<T>
}

export interface FailData {
  readonly failCommands: readonly string[]
  readonly times: number
  readonly closeConnection?: true
}

/** After each test nothing may be left on the server. */
export function mongodbStage(context: EngineContext): MongodbStage {
  let client: MongoClient | undefined
  const theClient = (): MongoClient => client ?? expect.unreachable('the client is there only inside a test')
  const notes = (): Collection<Note> => theClient().db().collection<Note>('note')
  beforeAll(async () => {
    client = await new MongoClient(context.engine.server.url, { monitorCommands: true }).connect()
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
    failing: (data, work) => failing(theClient(), data, work),
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

function failing<T>(client: MongoClient, { times, ...data }: FailData, work: () => Promise<T>): Promise<T> {
  const set = (mode: unknown): Promise<Document> =>
    client.db('admin').command({ configureFailPoint: 'failCommand', mode, data })
  const run = async (): Promise<T> => {
    await set({ times })
    return work().finally(() => set('off'))
  }
  return withHeldName('failCommand of MongoDB', run, () => {})
}
