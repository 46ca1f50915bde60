import type { StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { downloadedMariadb, mariadbData, mariadbSettings } from './mariadb-programs.ts'
import { startMysqlServer } from './mysql-server.ts'

/** A MariaDB that is the only node of its Galera cluster, which is enough for what one node says of itself. */
export async function startGalera(): Promise<StartedServer> {
  const programs = await downloadedMariadb()
  const [cluster, transfer] = [await freePort(), await freePort()]
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${cluster}`,
    `ist.recv_addr=127.0.0.1:${transfer}`,
    'gcache.size=16M',
  ].join(';')
  const args = [
    ...mariadbSettings,
    '--wsrep-on=ON',
    `--wsrep-provider=${programs.galera}`,
    `--wsrep-provider-options=${provider}`,
    '--wsrep-cluster-address=gcomm://',
    `--wsrep-node-address=127.0.0.1:${cluster}`,
    '--wsrep-new-cluster',
    '--binlog-format=ROW',
    '--innodb-autoinc-lock-mode=2',
  ]
  const data = await mariadbData(programs)
  return startMysqlServer({ engine: 'galera', origin: 'download', programs, data, args, isMariadb: true })
}
