import { containerSource } from './container.ts'
import type { EngineKind, EngineSample } from './engine.ts'
import { connectToPostgres } from './postgres-engine.ts'
import { downloadedPostgres, installedPostgres } from './postgres-programs.ts'
import { postgresSettings, startPostgres } from './postgres-server.ts'
import { postgresVersion } from './postgres-session.ts'
import { urlSource } from './url-source.ts'

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
      command: postgresSettings,
      url: ({ host, port }) => `postgres://postgres:holdfast@${host}:${port}/postgres`,
      ready: postgresVersion,
    }),
    {
      origin: 'installed',
      start: async () => {
        const programs = await installedPostgres()
        return programs === undefined
          ? { unavailable: 'no initdb with a postgres beside it on the PATH or in /usr/lib/postgresql' }
          : startPostgres(programs, 'installed')
      },
    },
    { origin: 'download', start: async () => startPostgres(await downloadedPostgres(), 'download') },
  ],
  connect: connectToPostgres,
  sample,
}

export default postgres
