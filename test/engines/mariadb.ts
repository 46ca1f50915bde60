import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { exists } from './cache-folder.ts'
import { containerSource } from './container.ts'
import { debianRoot } from './debian-root.ts'
import type { EngineKind, Origin, StartedServer } from './engine.ts'
import { connectToMysql, type WaitsForRow } from './mysql-engine.ts'
import { installedServer, type MysqlPrograms } from './mysql-programs.ts'
import { mysqlSample } from './mysql-sample.ts'
import { smallServer, startMysqlServer } from './mysql-server.ts'
import { mysqlVersion } from './mysql-session.ts'
import { runCommand } from './run-command.ts'
import { template } from './template.ts'
import { urlSource } from './url-source.ts'

const version = (url: string): Promise<string> => mysqlVersion(url, true)

// Off by default in MariaDB. The tables show table locks, GET_LOCK and transactions that have not touched a row.
const SHOW_LOCKS = [
  '--performance-schema=ON',
  '--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON',
  '--performance-schema-instrument=transaction=ON',
  '--performance-schema-consumer-events-transactions-current=ON',
]
const SETTINGS = ['--innodb-log-file-size=16M']

async function start(programs: MysqlPrograms, share: string, origin: Origin): Promise<StartedServer> {
  const data = await template({
    engine: 'mariadb',
    id: programs.id,
    make: async (folder) => {
      await mkdir(join(folder, 'data', 'mysql'), { recursive: true })
      const [command, ...args] = programs.server
      const make = [
        `--datadir=${join(folder, 'data')}`,
        '--bootstrap',
        '--silent-startup',
        '--max-allowed-packet=8M',
      ]
      const input = await systemTables(share)
      await runCommand(command, [...args, ...smallServer, ...SETTINGS, ...make], { input })
    },
  })
  const args = [...SETTINGS, ...SHOW_LOCKS]
  return startMysqlServer({ engine: 'mariadb', origin, programs, data, args, isMariadb: true })
}

/** What MariaDB's own install script feeds to a new server. One statement must stay on one line. */
async function systemTables(share: string): Promise<string> {
  const parts = ['system_tables', 'performance_tables', 'system_tables_data', 'sys_schema']
  const files = parts.flatMap((part) => [`mysql_${part}.sql`, `mariadb_${part}.sql`]) // the names changed with 11
  const texts = await Promise.all(
    [...files, 'maria_add_gis_sp_bootstrap.sql'].map((name) =>
      readFile(join(share, name), 'utf8').catch(() => ''),
    ),
  )
  // without a socket's owner, root has no password and may come from the loopback address
  return ['create database if not exists mysql;', 'use mysql;', 'set @auth_root_socket=NULL;', ...texts].join(
    '\n',
  )
}

/** Where the installation keeps the scripts that make its system tables. */
async function shareFolder(root: string): Promise<string> {
  for (const name of ['mariadb', 'mysql']) {
    const folder = join(root, 'usr/share', name)
    if (await exists(join(folder, 'maria_add_gis_sp_bootstrap.sql'))) return folder
  }
  throw new Error(`no scripts for MariaDB's system tables in ${join(root, 'usr/share')}`)
}

async function startDownloaded(): Promise<StartedServer> {
  const { path, program } = await debianRoot({
    name: 'mariadb-debian-bookworm',
    suite: 'bookworm',
    packages: ['mariadb-server-core'],
    alone: ['mariadb-server'], // for its plugins
    prune: ['usr/bin', 'usr/lib/x86_64-linux-gnu/gconv'],
  })
  const share = await shareFolder(path)
  const [command, ...leadingArgs] = program('usr/sbin/mariadbd')
  const id = await runCommand(command, [...leadingArgs, '--no-defaults', '--version'])
  const args = [
    '--no-defaults',
    `--basedir=${join(path, 'usr')}`,
    `--lc-messages-dir=${share}`,
    `--character-sets-dir=${join(share, 'charsets')}`,
    `--plugin-dir=${join(path, 'usr/lib/mysql/plugin')}`,
  ]
  return start({ id, server: [command, ...leadingArgs, ...args] }, share, 'download')
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
          : start(programs, await shareFolder('/'), 'installed')
      },
    },
    { origin: 'download', start: startDownloaded },
  ],
  connect: (server) => connectToMysql(server, waitsForRow),
  sample: mysqlSample,
}

export default mariadb
