import { containerSource } from './container.ts'
import type { EngineKind, Origin, StartedServer } from './engine.ts'
import { downloadedMysql, mysqlData, mysqlSettings } from './mysql-downloaded.ts'
import { connectToMysql, type WaitsForRow } from './mysql-engine.ts'
import { installedServer, type MysqlPrograms } from './mysql-programs.ts'
import { mysqlSample } from './mysql-sample.ts'
import { startMysqlServer } from './mysql-server.ts'
import { mysqlVersion } from './mysql-session.ts'
import { urlSource } from './url-source.ts'

const version = (url: string): Promise<string> => mysqlVersion(url, false)

// On by default, but said all the same: without them nothing shows table locks and GET_LOCK.
const SHOW_LOCKS = [
  '--performance-schema=ON',
  '--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON',
]

async function start(programs: MysqlPrograms, origin: Origin): Promise<StartedServer> {
  const data = await mysqlData(programs)
  const args = [...mysqlSettings, ...SHOW_LOCKS]
  return startMysqlServer({ engine: 'mysql', origin, programs, data, args, isMariadb: false })
}

const waitsForRow: WaitsForRow = async (ask, connectionId) => {
  const rows = await ask(
    `select 1 from performance_schema.data_lock_waits join performance_schema.threads on thread_id = requesting_thread_id
      where processlist_id = ?`,
    [connectionId],
  )
  return rows.length > 0
}

const mysql: EngineKind = {
  name: 'mysql',
  sources: [
    urlSource('HOLDFAST_MYSQL_URL', { engine: 'mysql', version }),
    containerSource({
      engine: 'mysql',
      image: 'mysql:8.4',
      port: 3306,
      env: { MYSQL_ROOT_PASSWORD: 'holdfast' },
      command: SHOW_LOCKS,
      url: ({ host, port }) => `mysql://root:holdfast@${host}:${port}/mysql`,
      ready: version,
    }),
    {
      origin: 'installed',
      start: async () => {
        const programs = await installedServer(['mysqld'], false)
        return programs === undefined
          ? { unavailable: 'no mysqld that is MySQL on the PATH or in /usr/sbin' }
          : start(programs, 'installed')
      },
    },
    { origin: 'download', start: async () => start(await downloadedMysql(), 'download') },
  ],
  connect: (server) => connectToMysql(server, waitsForRow),
  sample: mysqlSample,
}

export default mysql
