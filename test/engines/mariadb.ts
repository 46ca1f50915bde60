import { containerSource } from './container.ts'
import type { EngineKind, Origin, StartedServer } from './engine.ts'
import {
  downloadedMariadb,
  mariadbData,
  mariadbSettings,
  shareFolder,
  type MariadbPrograms,
} from './mariadb-programs.ts'
import { connectToMysql, type WaitsForRow } from './mysql-engine.ts'
import { installedServer } from './mysql-programs.ts'
import { mysqlSample } from './mysql-sample.ts'
import { startMysqlServer } from './mysql-server.ts'
import { mysqlVersion } from './mysql-session.ts'
import { urlSource } from './url-source.ts'

const version = (url: string): Promise<string> => mysqlVersion(url, true)

// Off by default in MariaDB. The tables show table locks, GET_LOCK and transactions that have not touched a row.
const SHOW_LOCKS = [
  '--performance-schema=ON',
  '--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON',
  '--performance-schema-instrument=transaction=ON',
  '--performance-schema-consumer-events-transactions-current=ON',
]

/** Starts MariaDB on a fresh data directory. */
export async function startMariadb(programs: MariadbPrograms, origin: Origin): Promise<StartedServer> {
  const data = await mariadbData(programs)
  const args = [...mariadbSettings, ...SHOW_LOCKS]
  return startMysqlServer({ engine: 'mariadb', origin, programs, data, args, isMariadb: true })
}

/**
 * MariaDB has no table of row waits that is up to date while it is polled, but its status report is.
 *
 * The report has a paragraph for each transaction. The line with the connection's id comes after the words
 * `LOCK WAIT` and before the statement's own text, which could say anything.
 */
const waitsForRow: WaitsForRow = async (ask, connectionId) => {
  const [report] = await ask('show engine innodb status')
  const paragraphs = String(report?.Status).split('\n---TRANSACTION ')
  return paragraphs.some((text) => {
    const owner = /^MariaDB thread id (\d+),/m.exec(text)
    return Number(owner?.[1]) === connectionId && /^LOCK WAIT /m.test(text.slice(0, owner?.index))
  })
}

const mariadb: EngineKind = {
  name: 'mariadb',
  sources: [
    urlSource('HOLDFAST_MARIADB_URL', { engine: 'mariadb', version }),
    containerSource({
      engine: 'mariadb',
      image: 'mariadb:10.11',
      port: 3306,
      env: { MARIADB_ROOT_PASSWORD: 'holdfast' },
      command: SHOW_LOCKS,
      url: ({ host, port }) => `mysql://root:holdfast@${host}:${port}/mysql`,
      ready: version,
    }),
    {
      origin: 'installed',
      start: async () => {
        const programs = await installedServer(['mariadbd', 'mysqld'], true)
        return programs === undefined
          ? { unavailable: 'no mariadbd on the PATH or in /usr/sbin' }
          : startMariadb({ ...programs, share: await shareFolder('/') }, 'installed')
      },
    },
    { origin: 'download', start: async () => startMariadb(await downloadedMariadb(), 'download') },
  ],
  connect: (server) => connectToMysql(server, waitsForRow),
  sample: mysqlSample,
}

export default mariadb
