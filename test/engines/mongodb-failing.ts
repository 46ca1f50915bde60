import { randomUUID } from 'node:crypto'

import { MongoClient, type Document, type MongoClientOptions } from 'mongodb'

import { withHeldName } from './held-name.ts'

/** What the server's own fail point is told: which commands, how often, and how they fail. */
export interface FailData extends Document {
  readonly failCommands: readonly string[]
  readonly times: number
}

/**
 * A client that the server knows by a name of its own, so that its commands alone can be made to fail.
 *
 * It begins with the name that the address has: by that the engine knows whose the transactions are that it finds.
 */
export function namedMongoClient(url: string, options: MongoClientOptions = {}): Promise<MongoClient> {
  const ofAll = new URL(url).searchParams.get('appName') ?? 'holdfast'
  return new MongoClient(url, { appName: `${ofAll}-${randomUUID()}`, ...options }).connect()
}

/**
 * Runs `work` while the commands of that client fail, by the server's own means for tests.
 *
 * The fail point is one for the whole server. Hence the held name: one test at a time, in whichever process. And hence
 * the client's name: without it another test's command could be the one that fails, and `work` would see none.
 */
export function whileFailing<T>(
  url: string,
  client: MongoClient,
  { times, ...how }: FailData,
  work: () => Promise<T>,
): Promise<T> {
  const { appName } = client.options
  if (appName === undefined) throw new Error('the client has no name: make it by namedMongoClient()')
  const run = async (): Promise<T> => {
    const other = await new MongoClient(url).connect() // the one that fails may have no connection left
    const set = (mode: unknown): Promise<Document> =>
      other.db('admin').command({ configureFailPoint: 'failCommand', mode, data: { ...how, appName } })
    try {
      await set({ times })
      return await work().finally(() => set('off'))
    } finally {
      await other.close()
    }
  }
  return withHeldName('failCommand of MongoDB', run, () => {})
}
