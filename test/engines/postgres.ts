import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { containerSource } from './container.ts'
import type { EngineKind, EngineSample, Origin, StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { connectToPostgres } from './postgres-engine.ts'
import { downloadedPostgres, installedPostgres, type PostgresPrograms } from './postgres-programs.ts'
import { postgresVersion } from './postgres-session.ts'
import { privateFolder } from './private-folder.ts'
import { runCommand } from './run-command.ts'
import { startServer } from './start-server.ts'
import { copyContents, template } from './template.ts'
import { unprivileged } from './unprivileged.ts'
import { urlSource } from './url-source.ts'

const SETTINGS = {
  max_connections: '200',
  max_prepared_transactions: '10',
  deadlock_timeout: '200ms', // a provoked deadlock is found soon
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  jit: 'off',
}
const settingArgs = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
const env = { ...process.env, LC_ALL: 'C', LANG: 'C' }

async function start(programs: PostgresPrograms, origin: Origin): Promise<StartedServer> {
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
  await user.give(folder.path)
  const port = await freePort()
  const [command, ...args] = run('postgres')
  const place = ['-D', home, '-p', String(port), '-k', '', '-c', 'listen_addresses=127.0.0.1']
  return startServer({
    name: 'postgres',
    origin,
    command,
    // shared memory as files in the data folder: a killed server leaves nothing of it behind
    args: [...args, ...place, '-c', 'dynamic_shared_memory_type=mmap', ...settingArgs],
    env,
    folder,
    stopSignal: 'SIGINT', // "fast": it does not wait for its clients
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    version: postgresVersion,
  })
}

const sample: EngineSample = {
  setUp: [
    { sql: 'create table counter (id int primary key, n int not null)', params: [] },
    { sql: 'insert into counter values (1, 0)', params: [] },
  ],
  increment: { sql: 'update counter set n = n + 1 where id = $1', params: [1] },
  read: { sql: 'select n from counter where id = $1', params: [1] },
  contests: [
    {
      over: 'a row',
      hold: { sql: 'select n from counter where id = 1 for update', params: [] },
      want: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
    },
    {
      over: 'an advisory lock',
      hold: { sql: 'select pg_advisory_lock($1)', params: [42] },
      want: { sql: 'select pg_advisory_xact_lock($1)', params: [42] },
    },
    {
      over: 'a table',
      hold: { sql: 'lock table counter in access exclusive mode', params: [] },
      want: { sql: 'select n from counter', params: [] },
    },
  ],
  busy: { sql: 'select pg_sleep(1)', params: [] },
}

const postgres: EngineKind = {
  name: 'postgres',
  sources: [
    urlSource('HOLDFAST_POSTGRES_URL', { engine: 'postgres', version: postgresVersion }),
    containerSource({
      engine: 'postgres',
      image: 'postgres:18',
      port: 5432,
      env: { POSTGRES_PASSWORD: 'holdfast' },
      command: settingArgs,
      url: ({ host, port }) => `postgres://postgres:holdfast@${host}:${port}/postgres`,
      ready: postgresVersion,
    }),
    {
      origin: 'installed',
      start: async () => {
        const programs = await installedPostgres()
        return programs === undefined
          ? { unavailable: 'no initdb with a postgres beside it on the PATH or in /usr/lib/postgresql' }
          : start(programs, 'installed')
      },
    },
    { origin: 'download', start: async () => start(await downloadedPostgres(), 'download') },
  ],
  connect: connectToPostgres,
  sample,
}

export default postgres
