import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Origin, StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import type { MysqlPrograms } from './mysql-programs.ts'
import { mysqlVersion } from './mysql-session.ts'
import { privateFolder } from './private-folder.ts'
import { startServer } from './start-server.ts'
import { copyContents } from './template.ts'

export interface MysqlServerOptions {
  readonly engine: string
  readonly origin: Origin
  readonly programs: MysqlPrograms
  /** A fresh data directory, which is copied. */
  readonly data: string
  /** Settings that only this server knows. */
  readonly args: readonly string[]
  readonly isMariadb: boolean
}

/** MySQL refuses to run as root unless it is told to; so does MariaDB. */
const asThisUser: readonly string[] = process.getuid?.() === 0 ? ['--user=root'] : []

/** Small, and careless about a power cut: what a test server may be. The same for making data and for running. */
export const smallServer: readonly string[] = [
  ...asThisUser,
  '--innodb-buffer-pool-size=64M',
  '--innodb-use-native-aio=OFF',
  '--innodb-flush-method=nosync',
]

/** Starts MySQL or MariaDB on a copy of the data directory. */
export async function startMysqlServer(options: MysqlServerOptions): Promise<StartedServer> {
  const { engine, origin, programs, data, args, isMariadb } = options
  const folder = await privateFolder(engine)
  const home = join(folder.path, 'data')
  await mkdir(home)
  await copyContents(data, home)
  const port = await freePort()
  const [command, ...leadingArgs] = programs.server
  return startServer({
    name: engine,
    origin,
    folder,
    command,
    args: [
      ...leadingArgs,
      ...smallServer,
      `--datadir=${home}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(folder.path, 'socket')}`,
      `--pid-file=${join(folder.path, 'pid')}`,
      `--tmpdir=${folder.path}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-doublewrite=OFF',
      '--max-connections=200',
      ...args,
    ],
    url: `mysql://root@127.0.0.1:${port}/mysql`,
    version: (url) => mysqlVersion(url, isMariadb),
  })
}
