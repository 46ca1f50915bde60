import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { architectureOf } from './architecture.ts'
import { debianRoot } from './debian-root.ts'
import { versionOf, type MysqlPrograms } from './mysql-programs.ts'
import { smallServer } from './mysql-server.ts'
import { runCommand } from './run-command.ts'
import { template } from './template.ts'

/** Must be the same for making data and for running. */
export const mysqlSettings: readonly string[] = [
  '--mysqlx=OFF',
  '--secure-file-priv=NULL',
  '--innodb-redo-log-capacity=32M',
]

/** A fresh data directory in the cache, to be copied. */
export function mysqlData(programs: MysqlPrograms): Promise<string> {
  return template({
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
      await runCommand(command, [...args, ...smallServer, ...mysqlSettings, '--skip-log-bin', ...make])
      await runCommand('rm', ['-f', join(folder, 'data', 'auto.cnf')]) // the server's identity: a copy gets its own
    },
  })
}

/** MySQL in the cache, from Debian. */
export async function downloadedMysql(): Promise<MysqlPrograms> {
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
