import type { StartedServer } from '../engines/engine.ts'
import { freePort } from '../engines/free-port.ts'
import { startRedis } from '../engines/redis-server.ts'
import { until } from '../engines/until.ts'
import { nodeRedis } from './redis-clients.ts'

/** A cluster of one member, which has no slots yet. */
export async function startEmptyCluster(): Promise<StartedServer> {
  const port = String(await freePort())
  // one that has met no other does not know its own address
  const address = ['--cluster-announce-ip', '127.0.0.1']
  return startRedis('redis', ['--cluster-enabled', 'yes', '--cluster-port', port, ...address])
}

/** The same with all slots. */
export async function startRedisCluster(): Promise<StartedServer> {
  const cluster = await startEmptyCluster()
  const { send, close } = await nodeRedis.open(cluster.server.url)
  await send('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await until(async () => /cluster_state:ok/.test(String(await send('CLUSTER', 'INFO'))), 'a cluster')
  await close()
  return cluster
}
