import { randomBytes } from 'node:crypto'

import { containerSource } from './container.ts'
import type { EngineKind, EngineSample } from './engine.ts'
import { connectToMssql } from './mssql-engine.ts'
import { mssqlVersion } from './mssql-session.ts'
import { urlSource } from './url-source.ts'

// the server refuses a password without capital letters, small ones and digits
const password = `Aa1${randomBytes(16).toString('hex')}`

const sample: EngineSample = {
  setUp: [
    { sql: 'create table counter (id int primary key, n int not null)', params: [] },
    { sql: 'insert into counter values (1, 0)', params: [] },
  ],
  increment: { sql: 'update counter set n = n + 1 where id = @p1', params: [1] },
  read: { sql: 'select n from counter where id = @p1', params: [1] },
  contests: [
    {
      over: 'a row',
      hold: { sql: 'select n from counter with (updlock, rowlock) where id = 1', params: [] },
      want: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
    },
    {
      over: 'an application lock',
      hold: { sql: "exec sp_getapplock @p1, 'Exclusive', 'Session', 0, 'public'", params: ['engines.test'] },
      want: {
        sql: "exec sp_getapplock @p1, 'Exclusive', 'Transaction', 20000, 'public'",
        params: ['engines.test'],
      },
    },
    {
      over: 'a table',
      hold: { sql: 'select n from counter with (tablockx, holdlock)', params: [] },
      want: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
    },
  ],
  busy: { sql: "waitfor delay '00:00:01'", params: [] },
}

const mssql: EngineKind = {
  name: 'mssql',
  sources: [
    urlSource('HOLDFAST_MSSQL_URL', { engine: 'mssql', version: mssqlVersion }),
    containerSource({
      engine: 'mssql',
      image: 'mcr.microsoft.com/mssql/server:2022-latest',
      port: 1433,
      env: { ACCEPT_EULA: 'Y', MSSQL_PID: 'Developer', MSSQL_SA_PASSWORD: password },
      url: ({ host, port }) => `mssql://sa:${password}@${host}:${port}/master?trustServerCertificate=true`,
      ready: mssqlVersion,
    }),
    {
      origin: 'installed',
      start: async () => ({
        unavailable: 'SQL Server cannot be run without a container runtime or HOLDFAST_MSSQL_URL',
      }),
    },
  ],
  connect: connectToMssql,
  sample,
}

export default mssql
