import { containerSource } from './container.ts'
import type { EngineKind, EngineSample } from './engine.ts'
import { initiatedVersion, mongodbVersion } from './mongodb-client.ts'
import { connectToMongodb } from './mongodb-engine.ts'
import { installedMongod, settings, startMongod } from './mongodb-server.ts'
import { mongodUnderWine } from './mongodb-wine.ts'
import { urlSource } from './url-source.ts'

// a write that changes nothing is dropped by the server and meets nobody
const touch = { command: { update: 'counter', updates: [{ q: { _id: 1 }, u: { $inc: { touched: 1 } } }] } }

const sample: EngineSample = {
  setUp: [{ command: { insert: 'counter', documents: [{ _id: 1, n: 0 }] } }],
  increment: { command: { update: 'counter', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] } },
  read: { command: { find: 'counter', filter: { _id: 1 } } },
  contests: [
    { over: 'a document, in a transaction', hold: touch, want: touch, isRefused: true },
    { over: 'a document, outside of one', hold: touch, want: touch, wantIsPlain: true },
    {
      over: "a collection's definition",
      hold: touch,
      want: { command: { collMod: 'counter', validationLevel: 'moderate' } },
      wantIsPlain: true,
    },
  ],
  busy: { command: { find: 'counter', filter: { $where: 'sleep(1000) || true' } } },
}

const mongodb: EngineKind = {
  name: 'mongodb',
  sources: [
    urlSource('HOLDFAST_MONGODB_URL', { engine: 'mongodb', version: mongodbVersion }),
    containerSource({
      engine: 'mongodb',
      image: 'mongo:7',
      port: 27017,
      command: ['--bind_ip_all', ...settings],
      url: ({ host, port }) => `mongodb://${host}:${port}/?directConnection=true`,
      ready: (url) => initiatedVersion(url, '127.0.0.1:27017'),
    }),
    {
      origin: 'installed',
      start: async () => {
        const mongod = await installedMongod()
        return 'unavailable' in mongod ? mongod : startMongod(mongod, 'installed')
      },
    },
    {
      origin: 'download',
      start: async () => {
        const mongod = await mongodUnderWine()
        return 'unavailable' in mongod ? mongod : startMongod(mongod, 'download')
      },
    },
  ],
  connect: connectToMongodb,
  sample,
}

export default mongodb
