import { findPrograms } from './find-program.ts'
import { runCommand } from './run-command.ts'

/** One installation of MySQL or MariaDB. */
export interface MysqlPrograms {
  /** Tells installations apart: data made by one is not given to another. */
  readonly id: string
  /** The words that run the server, with the arguments that say where its files are. */
  readonly server: readonly [string, ...string[]]
}

/**
 * A server of this name that is installed here.
 *
 * Each of the two may be installed under the other's name; only what the program says of itself counts.
 */
export async function installedServer(
  names: readonly string[],
  isMariadb: boolean,
): Promise<MysqlPrograms | undefined> {
  for (const name of names) {
    for (const path of await findPrograms(name, ['/usr/sbin', '/usr/local/sbin', '/usr/libexec'])) {
      const version = await runCommand(path, ['--version']).catch(() => '')
      if (version !== '' && /mariadb/i.test(version) === isMariadb)
        return { id: version, server: [path, '--no-defaults'] }
    }
  }
  return undefined
}

/** What a server says of itself. Rejects when it does not start. */
export function versionOf([command, ...args]: readonly [string, ...string[]]): Promise<string> {
  return runCommand(command, [...args, '--no-defaults', '--version'])
}
