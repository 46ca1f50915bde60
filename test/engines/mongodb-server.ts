import { mkdir } from 'node:fs/promises'

import type { Origin, StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { initiatedVersion } from './mongodb-client.ts'
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

/** What every mongod of ours is told, in a container or not. */
export const settings: readonly string[] = [
  ['--replSet', 'rs0'], // without one there are no transactions
  ['--wiredTigerCacheSizeGB', '0.25'],
  ...Object.entries({
    diagnosticDataCollectionEnabled: false, // it cannot be had under Wine
    ttlMonitorSleepSecs: 1,
    enableTestCommands: 1, // failCommand
  }).map(([name, value]) => ['--setParameter', `${name}=${value}`]),
].flat()

/** Starts a replica set of one. */
export async function startMongod(mongod: Mongod, origin: Origin): Promise<StartedServer> {
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
      args: [...words, ...place, ...settings, ...mongod.args],
      env,
      folder,
      readyWithinMs: 120_000, // under an emulator it takes long
      url: `mongodb://${address}/?directConnection=true`,
      version: (url) => initiatedVersion(url, address),
    })
  } catch (error) {
    await folder.remove()
    throw error
  }
}
