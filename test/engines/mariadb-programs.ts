import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { architectureOf } from './architecture.ts'
import { exists } from './cache-folder.ts'
import { debianRoot } from './debian-root.ts'
import { versionOf, type MysqlPrograms } from './mysql-programs.ts'
import { smallServer } from './mysql-server.ts'
import { runCommand } from './run-command.ts'
import { template } from './template.ts'

/** One installation of MariaDB. */
export interface MariadbPrograms extends MysqlPrograms {
  /** Where it keeps the scripts that make its system tables. */
  readonly share: string
}

/** Must be the same for making data and for running. */
export const mariadbSettings: readonly string[] = ['--innodb-log-file-size=16M']

/** A fresh data directory in the cache, to be copied. */
export function mariadbData({ id, server, share }: MariadbPrograms): Promise<string> {
  return template({
    engine: 'mariadb',
    id,
    make: async (folder) => {
      await mkdir(join(folder, 'data', 'mysql'), { recursive: true })
      const [command, ...args] = server
      const make = [
        `--datadir=${join(folder, 'data')}`,
        '--bootstrap',
        '--silent-startup',
        '--max-allowed-packet=8M',
      ]
      const input = await systemTables(share)
      await runCommand(command, [...args, ...smallServer, ...mariadbSettings, ...make], { input })
    },
  })
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
export async function shareFolder(root: string): Promise<string> {
  for (const name of ['mariadb', 'mysql']) {
    const folder = join(root, 'usr/share', name)
    if (await exists(join(folder, 'maria_add_gis_sp_bootstrap.sql'))) return folder
  }
  throw new Error(`no scripts for MariaDB's system tables in ${join(root, 'usr/share')}`)
}

export interface DownloadedMariadb extends MariadbPrograms {
  /** The library that makes a server a node of a Galera cluster. */
  readonly galera: string
}

/** The Debian release that has a version of MariaDB, and what the names of its packages end with. */
const debianReleases = {
  '10.5': { suite: 'bullseye', ending: '-10.5' },
  '10.11': { suite: 'bookworm', ending: '' },
  '11.8': { suite: 'trixie', ending: '' },
}
export type MariadbVersion = keyof typeof debianReleases

/** MariaDB in the cache, from Debian. */
export async function downloadedMariadb(version: MariadbVersion = '10.11'): Promise<DownloadedMariadb> {
  const { suite, ending } = debianReleases[version]
  const { path, program } = await debianRoot({
    name: `mariadb-galera-debian-${suite}`,
    suite,
    packages: [`mariadb-server-core${ending}`, 'galera-4'],
    alone: [`mariadb-server${ending}`], // for its plugins
    prune: ['usr/bin', `usr/lib/${architectureOf().triplet}/gconv`],
    check: (root) => versionOf(root.program('usr/sbin/mariadbd')),
  })
  const share = await shareFolder(path)
  const [command, ...leadingArgs] = program('usr/sbin/mariadbd')
  const id = await versionOf([command, ...leadingArgs])
  const args = [
    '--no-defaults',
    `--basedir=${join(path, 'usr')}`,
    `--lc-messages-dir=${share}`,
    `--character-sets-dir=${join(share, 'charsets')}`,
    `--plugin-dir=${join(path, 'usr/lib/mysql/plugin')}`,
  ]
  const galera = join(path, 'usr/lib/galera/libgalera_smm.so')
  return { id, server: [command, ...leadingArgs, ...args], share, galera }
}
