import { randomUUID } from 'node:crypto'

import { startCluster, type Cluster } from './cluster.ts'
import type { StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { downloadedMysql, mysqlData, mysqlSettings } from './mysql-downloaded.ts'
import { startMysqlServer } from './mysql-server.ts'
import { connectMysql, queryMysql } from './mysql-session.ts'
import { until } from './until.ts'

/** MySQL servers of one group in which all are primaries. */
export async function startGroup(size = 2): Promise<Cluster> {
  const group = randomUUID()
  const ports: number[] = []
  return startCluster(size, async (others) => {
    ports.push(await freePort())
    const node = await startMember(group, ports)
    await join(node, others.length === 0)
    await until(() => hasJoined(node, ports.length), `a group of ${ports.length}`)
    return node
  })
}

/** `ports` are those at which the members talk to each other, the new one's last. */
async function startMember(group: string, ports: readonly number[]): Promise<StartedServer> {
  const programs = await downloadedMysql()
  const data = await mysqlData(programs)
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const settings = {
    'server-id': ports.length,
    'log-bin': 'bin',
    'gtid-mode': 'ON',
    'enforce-gtid-consistency': 'ON',
    'report-host': '127.0.0.1',
    'plugin-load-add': 'group_replication.so',
    'loose-group-replication-group-name': group,
    'loose-group-replication-start-on-boot': 'OFF',
    'loose-group-replication-communication-stack': 'XCOM',
    'loose-group-replication-local-address': addresses.at(-1),
    'loose-group-replication-group-seeds': addresses.join(','),
    'loose-group-replication-ip-allowlist': '127.0.0.1',
    'loose-group-replication-single-primary-mode': 'OFF',
    'loose-group-replication-enforce-update-everywhere-checks': 'ON',
    'loose-group-replication-recovery-get-public-key': 'ON',
    // a machine that is slow is no member that is gone
    'loose-group-replication-member-expel-timeout': 120,
  }
  const args = [...mysqlSettings, ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)]
  return startMysqlServer({
    engine: 'group-replication',
    origin: 'download',
    programs,
    data,
    args,
    isMariadb: false,
  })
}

async function join({ server }: StartedServer, isFirst: boolean): Promise<void> {
  const connection = await connectMysql(server.url)
  const say = (sql: string): Promise<unknown> => queryMysql(connection, sql)
  try {
    await say("change replication source to source_user = 'root' for channel 'group_replication_recovery'")
    if (isFirst) await say('set global group_replication_bootstrap_group = on')
    await say('start group_replication')
    if (isFirst) await say('set global group_replication_bootstrap_group = off')
  } finally {
    await connection.end()
  }
}

async function hasJoined({ server }: StartedServer, size: number): Promise<boolean> {
  const connection = await connectMysql(server.url)
  try {
    const rows = await queryMysql(
      connection,
      "select member_id from performance_schema.replication_group_members where member_state = 'ONLINE'",
    )
    return rows.length === size
  } finally {
    await connection.end()
  }
}
