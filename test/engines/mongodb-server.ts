import { mkdir } from 'node:fs/promises'

import type { Origin, StartedServer, Unavailable } from './engine.ts'
import { findPrograms } from './find-program.ts'
import { freePort } from './free-port.ts'
import { flushed, initiatedVersion, plainVersion } from './mongodb-client.ts'
import { privateFolder } from './private-folder.ts'
import { startServer } from './start-server.ts'

/** A mongod and how to run it. */
export interface Mongod {
  readonly command: readonly string[]
  /** What only this one is told. */
  readonly args: readonly string[]
  /** What the server's folder needs before the start; gives the server's environment. */
  readonly prepare: (folder: string) => Promise<NodeJS.ProcessEnv>
}

/** The one on the PATH. */
export async function installedMongod(): Promise<Mongod | Unavailable> {
  const [command] = await findPrograms('mongod')
  if (command === undefined) return { unavailable: 'no mongod on the PATH' }
  // no socket: it would lie outside of the server's folder
  return { command: [command], args: ['--nounixsocket'], prepare: async () => process.env }
}

const small: readonly string[] = [
  '--wiredTigerCacheSizeGB=0.25',
  '--setParameter=diagnosticDataCollectionEnabled=false', // it cannot be had under Wine
]

/** What every mongod of a replica set of ours is told, in a container or not. */
export const settings: readonly string[] = [
  ...small,
  '--replSet=rs0', // without one there are no transactions
  '--setParameter=ttlMonitorSleepSecs=1',
  '--setParameter=enableTestCommands=1', // failCommand
]

/** Starts a replica set of one. */
export function startMongod(mongod: Mongod, origin: Origin): Promise<StartedServer> {
  return start(mongod, origin, { args: settings, version: initiatedVersion })
}

/** Starts a server that is part of no replica set. */
export function startLoneMongod(mongod: Mongod, origin: Origin): Promise<StartedServer> {
  return start(mongod, origin, { args: small, version: plainVersion })
}

interface Kind {
  readonly args: readonly string[]
  /** The server's version, once it is what it shall be. */
  readonly version: (url: string, address: string) => Promise<string>
}

async function start(mongod: Mongod, origin: Origin, { args, version }: Kind): Promise<StartedServer> {
  const folder = await privateFolder('mongodb')
  try {
    await mkdir(`${folder.path}/data`)
    const env = await mongod.prepare(folder.path)
    const [command = '', ...words] = mongod.command
    const port = await freePort()
    const address = `127.0.0.1:${port}`
    const place = ['--dbpath', 'data', '--port', String(port), '--bind_ip', '127.0.0.1']
    return await startServer({
      name: 'mongodb',
      origin,
      command,
      args: [...words, ...place, ...args, ...mongod.args],
      env,
      folder,
      url: `mongodb://${address}/?directConnection=true`,
      version: (url) => version(url, address),
      flush: flushed, // under Wine a signal kills it
    })
  } catch (error) {
    await folder.remove()
    throw error
  }
}
