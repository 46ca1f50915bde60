import type { Sessions } from '../../core/session.ts'
import { mustHave } from '../must-have.ts'
import type { MongodbClient, MongodbDatabase, MongodbSession, MongodbTransaction } from './driver.ts'
import { listenIn } from './listen.ts'
import { OneSession, type Source } from './session.ts'
import { trustIn } from './trust.ts'

export type { MongodbClient, MongodbDatabase, MongodbSession, MongodbTransaction } from './driver.ts'

/** Where the locks keep what they store. */
export interface MongodbSessionOptions {
  /** The database that holds the collections and the locks. @default the one that the client's URL names */
  readonly database?: string
}

/** Sessions on a MongoDB deployment. It must be a replica set: a lone server has no transactions. */
export function sessions<S extends MongodbSession, D extends MongodbDatabase<S>>(
  client: MongodbClient<S, D>,
  { database }: MongodbSessionOptions = {},
): Sessions<MongodbTransaction<S, D>> {
  mustHave(client, {
    field: 'client',
    from: 'mongodb',
    methods: ['startSession', 'db'],
    pass: 'a client, as in createLocks(new MongoClient(url))',
  })
  const source: Source<S, D> = { client, database, habits: { beginsAlone: false }, trust: trustIn(client) }
  return {
    adapter: 'mongodb',
    open: async () => new OneSession(source),
    listen: listenIn(() => client.db(database)),
  }
}
