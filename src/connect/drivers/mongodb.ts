import {
  sessions,
  type MongodbClient,
  type MongodbDatabase,
  type MongodbSession,
} from '../../adapters/mongodb/sessions.ts'
import type { Connected } from '../../conformance/subject.ts'
import type { Session } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import { ownTables } from '../../dialects/own-tables.ts'
import { registry } from '../../registry.ts'
import type { Driver, ScratchOrder } from '../driver.ts'
import { endable } from '../ending.ts'
import { limits } from '../limits.ts'
import { intoMongodbDatabase } from './mongodb-address.ts'

interface MongodbModule {
  readonly MongoClient: new (url: string, options: object) => OwnClient
}

interface OwnClient extends MongodbClient<MongodbSession, MongodbDatabase<MongodbSession>> {
  connect(): Promise<unknown>
  close(): Promise<void>
}

/** `mongodb`, to a replica set. */
export const mongodb: Driver = {
  name: 'mongodb',
  protocols: ['mongodb:', 'mongodb+srv:'],
  example: 'mongodb://user:password@localhost:27017/database?replicaSet=rs0',
  dialects: ['mongodb'],
  open: async (module, url, size) => open(module as MongodbModule, url, size),
  // https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
  failures: {
    MongoParseError: 'address',
    MongoInvalidArgumentError: 'address',
    MongoAPIError: 'address',
    MongoMissingCredentialsError: 'login',
    18: 'login',
    8000: 'login', // the same, as Atlas has it
    13: 'login', // a server that wants a log-in and got none
    10107: 'rights', // not the primary
    13435: 'rights',
  },
  scratch,
  scratchNeeds: 'the role readWriteAnyDatabase',
  tables,
}

async function open({ MongoClient }: MongodbModule, url: string, size: number): Promise<Connected> {
  const client = new MongoClient(url, {
    maxPoolSize: size,
    serverSelectionTimeoutMS: limits.openMs / 2,
    connectTimeoutMS: limits.openMs / 2,
  })
  const connected = endable(sessions(client), () => client.close())
  try {
    await client.connect()
  } catch (error) {
    await connected.close()
    throw error
  }
  return connected
}

/** A database is there as soon as it is written to. Its collections are too, but not for two who do so at once. */
function scratch({ url, name, reach }: ScratchOrder): ReturnType<Driver['scratch']> {
  const into = intoMongodbDatabase(url, name)
  return {
    url: into,
    application: name,
    make: () =>
      reach(into, async (session) => {
        for (const statement of await ownTables(registry.mongodb)) await session.run(statement)
      }),
    drop: async () => {
      await reach(intoMongodbDatabase(url, 'admin'), (session) => endTransactions(session, name))
      await reach(into, (session) => session.run({ command: { dropDatabase: 1 } }))
    },
  }
}

/** An open transaction would keep the database from being dropped. It names no database, but its client does. */
async function endTransactions(session: Session, name: string): Promise<void> {
  const running = await session.run({
    command: {
      aggregate: 1,
      pipeline: [
        { $currentOp: { allUsers: false, idleSessions: true } },
        { $match: { appName: name, lsid: { $exists: true } } },
      ],
      cursor: {},
    },
  })
  const ids = running.flatMap(({ lsid }) => (isRow(lsid) ? [{ id: lsid.id }] : []))
  if (ids.length > 0) await session.run({ command: { killSessions: ids } })
}

async function tables(session: Session): Promise<readonly string[]> {
  const [reply] = await session.run({
    command: { listCollections: 1, nameOnly: true, cursor: { batchSize: 10_000 } },
  })
  const cursor = reply?.cursor as { readonly firstBatch: readonly { readonly name: string }[] }
  return cursor.firstBatch.map(({ name }) => name).filter((name) => !name.startsWith('system.'))
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null
}
