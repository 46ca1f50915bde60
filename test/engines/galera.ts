import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { startCluster, type Cluster } from './cluster.ts'
import type { StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { downloadedMariadb, mariadbData, mariadbSettings } from './mariadb-programs.ts'
import { startMysqlServer } from './mysql-server.ts'
import { connectMysql, queryMysql } from './mysql-session.ts'
import { privateFolder } from './private-folder.ts'
import { copyContents } from './template.ts'
import { until } from './until.ts'

/** A MariaDB that is the only node of its Galera cluster, which is enough for what one node says of itself. */
export async function startGalera(): Promise<StartedServer> {
  return startNode({ port: await freePort(), peers: [], data: await freshData() })
}

/** MariaDB servers of one Galera cluster, all of which take writes. */
export async function startGaleraCluster(size = 2): Promise<Cluster> {
  const ports: number[] = []
  return startCluster(size, async ([first]) => {
    const port = await freePort()
    const node = await (first === undefined
      ? startNode({ port, peers: [], data: await freshData() })
      : withStateOf(first, (data) => startNode({ port, peers: ports, data })))
    ports.push(port)
    await until(() => hasJoined(node, ports.length), `a Galera cluster of ${ports.length}`)
    return node
  })
}

interface NodeOptions {
  /** Where it listens for other nodes. */
  readonly port: number
  /** Where these listen. None: it is the first. */
  readonly peers: readonly number[]
  /** What it begins with. */
  readonly data: string
}

async function startNode({ port, peers, data }: NodeOptions): Promise<StartedServer> {
  const programs = await downloadedMariadb()
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${port}`,
    `ist.recv_addr=127.0.0.1:${await freePort()}`,
    'gcache.size=16M',
    // a machine that is slow is no node that is gone
    'evs.suspect_timeout=PT1M',
    'evs.inactive_timeout=PT2M',
  ].join(';')
  const args = [
    ...mariadbSettings,
    '--wsrep-on=ON',
    `--wsrep-provider=${programs.galera}`,
    `--wsrep-provider-options=${provider}`,
    `--wsrep-cluster-address=gcomm://${peers.map((peer) => `127.0.0.1:${peer}`).join(',')}`,
    `--wsrep-node-address=127.0.0.1:${port}`,
    ...(peers.length === 0 ? ['--wsrep-new-cluster'] : []),
    '--binlog-format=ROW',
    '--innodb-autoinc-lock-mode=2',
  ]
  return startMysqlServer({ engine: 'galera', origin: 'download', programs, data, args, isMariadb: true })
}

async function freshData(): Promise<string> {
  return mariadbData(await downloadedMariadb())
}

/**
 * Gives fresh data that says it is what this node has: nothing was written yet, so that it is. A node that joins with it
 * needs no transfer of state, for which there are no programs here.
 */
async function withStateOf(
  node: StartedServer,
  use: (data: string) => Promise<StartedServer>,
): Promise<StartedServer> {
  const folder = await privateFolder('galera-state')
  try {
    await copyContents(await freshData(), folder.path)
    const status = await statusOf(node)
    const state = [
      '# GALERA saved state',
      'version: 2.1',
      `uuid:    ${status.get('wsrep_cluster_state_uuid')}`,
      `seqno:   ${status.get('wsrep_last_committed')}`,
      'safe_to_bootstrap: 0',
    ]
    await writeFile(join(folder.path, 'grastate.dat'), `${state.join('\n')}\n`)
    return await use(folder.path)
  } finally {
    await folder.remove()
  }
}

async function hasJoined(node: StartedServer, size: number): Promise<boolean> {
  const status = await statusOf(node)
  return (
    status.get('wsrep_local_state_comment') === 'Synced' && status.get('wsrep_cluster_size') === String(size)
  )
}

async function statusOf({ server }: StartedServer): Promise<ReadonlyMap<string, string>> {
  const connection = await connectMysql(server.url)
  try {
    const rows = await queryMysql(connection, "show global status like 'wsrep\\_%'")
    return new Map(rows.map(({ Variable_name, Value }) => [String(Variable_name), String(Value)]))
  } finally {
    await connection.end()
  }
}
