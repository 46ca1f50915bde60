import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Origin, StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { downloadedPostgres, installedPostgres, type PostgresPrograms } from './postgres-programs.ts'
import { postgresVersion } from './postgres-session.ts'
import { privateFolder } from './private-folder.ts'
import { runCommand } from './run-command.ts'
import { startServer } from './start-server.ts'
import { copyContents, template } from './template.ts'
import { unprivileged } from './unprivileged.ts'

const SETTINGS = {
  max_connections: '200',
  max_prepared_transactions: '10',
  deadlock_timeout: '200ms', // a provoked deadlock is found soon
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  jit: 'off',
  autovacuum: 'off', // its workers hold locks, which are seen where there should be none
}
export const postgresSettings: readonly string[] = Object.entries(SETTINGS).flatMap(([name, value]) => [
  '-c',
  `${name}=${value}`,
])
const env = { ...process.env, LC_ALL: 'C', LANG: 'C' }

/** Starts PostgreSQL on a fresh data directory. */
export function startPostgres(programs: PostgresPrograms, origin: Origin): Promise<StartedServer> {
  return start(programs, origin, async () => {})
}

/** Starts a standby whose primary never sends anything: it stays in recovery for ever, and answers reads. */
export async function startStandby(): Promise<StartedServer> {
  const installed = await installedPostgres()
  return start(
    installed ?? (await downloadedPostgres()),
    installed === undefined ? 'download' : 'installed',
    (home) => writeFile(join(home, 'standby.signal'), ''),
  )
}

async function start(
  programs: PostgresPrograms,
  origin: Origin,
  prepare: (home: string) => Promise<void>,
): Promise<StartedServer> {
  const user = await unprivileged()
  await user.checkReads(programs.program('initdb').at(-1) ?? '')
  const run = (name: string): [string, ...string[]] => ['env', ...user.words, ...programs.program(name)]
  const data = await template({
    engine: 'postgres',
    id: [programs.id, ...user.words].join(' '),
    make: async (folder) => {
      await user.give(folder)
      const [command, ...args] = run('initdb')
      const wanted = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
      await runCommand(command, [...args, ...programs.initArgs, ...wanted, '-D', join(folder, 'data')], {
        env,
        cwd: folder,
      })
    },
  })
  const folder = await privateFolder('postgres')
  const home = join(folder.path, 'data')
  await mkdir(home, { mode: 0o700 })
  await copyContents(data, home)
  await prepare(home)
  await user.give(folder.path)
  const port = await freePort()
  const [command, ...args] = run('postgres')
  const place = ['-D', home, '-p', String(port), '-k', '', '-c', 'listen_addresses=127.0.0.1']
  return startServer({
    name: 'postgres',
    origin,
    command,
    // shared memory as files in the data folder: a killed server leaves nothing of it behind
    args: [...args, ...place, '-c', 'dynamic_shared_memory_type=mmap', ...postgresSettings],
    env,
    folder,
    stopSignal: 'SIGINT', // "fast": it does not wait for its clients
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    version: postgresVersion,
  })
}
