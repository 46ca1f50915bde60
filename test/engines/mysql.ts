import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { architectureOf } from './architecture.ts'
import { containerSource } from './container.ts'
import { debianRoot } from './debian-root.ts'
import type { EngineKind, Origin, StartedServer } from './engine.ts'
import { connectToMysql, type WaitsForRow } from './mysql-engine.ts'
import { installedServer, versionOf, type MysqlPrograms } from './mysql-programs.ts'
import { mysqlSample } from './mysql-sample.ts'
import { smallServer, startMysqlServer } from './mysql-server.ts'
import { mysqlVersion } from './mysql-session.ts'
import { runCommand } from './run-command.ts'
import { template } from './template.ts'
import { urlSource } from './url-source.ts'

const version = (url: string): Promise<string> => mysqlVersion(url, false)

// On by default, but said all the same: without them nothing shows table locks and GET_LOCK.
const SHOW_LOCKS = [
  '--performance-schema=ON',
  '--performance-schema-instrument=wait/lock/metadata/sql/mdl=ON',
]
const SETTINGS = ['--mysqlx=OFF', '--secure-file-priv=NULL', '--innodb-redo-log-capacity=32M']

async function start(programs: MysqlPrograms, origin: Origin): Promise<StartedServer> {
  const data = await template({
    engine: 'mysql',
    id: programs.id,
    make: async (folder) => {
      // names are not resolved, so a client on the loopback address is not "localhost" and needs an account of its own
      const init = join(folder, 'init.sql')
      await writeFile(
        init,
        "create user root@'127.0.0.1'; grant all on *.* to root@'127.0.0.1' with grant option;\n",
      )
      const [command, ...args] = programs.server
      const make = ['--initialize-insecure', `--init-file=${init}`, `--datadir=${join(folder, 'data')}`]
      await runCommand(command, [...args, ...smallServer, ...SETTINGS, '--skip-log-bin', ...make])
      await runCommand('rm', ['-f', join(folder, 'data', 'auto.cnf')]) // the server's identity: a copy gets its own
    },
  })
  const args = [...SETTINGS, ...SHOW_LOCKS]
  return startMysqlServer({ engine: 'mysql', origin, programs, data, args, isMariadb: false })
}

async function downloaded(): Promise<MysqlPrograms> {
  const { path, program } = await debianRoot({
    name: 'mysql-debian-sid',
    suite: 'sid',
    packages: ['mysql-server-core'],
    prune: ['usr/bin', `usr/lib/${architectureOf().triplet}/gconv`],
    check: (root) => versionOf(root.program('usr/sbin/mysqld')),
  })
  const [command, ...leadingArgs] = program('usr/sbin/mysqld')
  const places = {
    basedir: 'usr',
    'lc-messages-dir': 'usr/share/mysql',
    'character-sets-dir': 'usr/share/mysql/charsets',
    'plugin-dir': 'usr/lib/mysql/plugin',
  }
  const args = Object.entries(places).map(([name, place]) => `--${name}=${join(path, place)}`)
  const id = await versionOf([command, ...leadingArgs])
  return { id, server: [command, ...leadingArgs, '--no-defaults', ...args] }
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
    { origin: 'download', start: async () => start(await downloaded(), 'download') },
  ],
  connect: (server) => connectToMysql(server, waitsForRow),
  sample: mysqlSample,
}

export default mysql
