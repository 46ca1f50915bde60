import { sessions, type MssqlPool } from '../../adapters/mssql/sessions.ts'
import type { Session } from '../../core/session.ts'
import { intoDatabase } from '../address.ts'
import type { Driver, ScratchOrder } from '../driver.ts'
import { endable } from '../ending.ts'
import { limits } from '../limits.ts'
import { namesIn, sql } from '../rows.ts'
import { within } from '../within.ts'

interface MssqlModule {
  readonly ConnectionPool: new (config: MssqlConfig) => OwnPool
}

interface OwnPool extends MssqlPool {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  close(): Promise<void>
}

/** What of the driver's settings an address decides. */
export interface MssqlConfig {
  readonly server: string
  readonly port?: number
  readonly user: string
  readonly password: string
  readonly database: string
  readonly connectionTimeout: number
  readonly pool: { readonly max: number }
  readonly options: {
    readonly encrypt: boolean
    readonly trustServerCertificate: boolean
    readonly instanceName?: string
  }
}

/** `mssql`, to SQL Server. */
export const mssql: Driver = {
  name: 'mssql',
  protocols: ['sqlserver:', 'mssql:'],
  example: 'sqlserver://user:password@localhost:1433/database?trustServerCertificate=true',
  dialects: ['mssql'],
  open: async (module, url, size) => {
    const { ConnectionPool } = module as MssqlModule
    const pool = new ConnectionPool(mssqlConfig(url, size))
    pool.on('error', () => {}) // a connection that breaks is replaced
    const connected = endable(sessions(pool), () => pool.close())
    try {
      await within(limits.openMs, pool.connect(), () => new Error('it does not answer'))
    } catch (error) {
      await connected.close()
      throw error
    }
    return connected
  },
  // https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
  failures: {
    ELOGIN: 'login',
    18456: 'login',
    4060: 'login', // no such database, or not for this user
    916: 'login',
    262: 'rights', // CREATE DATABASE
    5011: 'rights', // ALTER DATABASE
    3701: 'rights', // DROP DATABASE
    3906: 'rights', // the database is read-only
  },
  scratch,
  scratchNeeds: 'the server role dbcreator',
  currentDatabase: sql('SELECT DB_NAME() AS name'),
  tables: (session) =>
    namesIn(session, "SELECT name FROM sys.objects WHERE is_ms_shipped = 0 AND type IN ('U', 'V')"),
}

/** Encrypted unless the address says otherwise, as the driver itself has it. */
export function mssqlConfig(url: string, size: number): MssqlConfig {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const options = new Map([...searchParams].map(([name, value]) => [name.toLowerCase(), value]))
  const instanceName = options.get('instancename')
  return {
    server: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'), // an IPv6 address
    // the browser service tells the port of an instance
    ...(instanceName === undefined || port !== '' ? { port: Number(port || 1433) } : {}),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)) || 'master',
    connectionTimeout: limits.openMs,
    pool: { max: size },
    options: {
      encrypt: options.get('encrypt') !== 'false',
      trustServerCertificate: options.get('trustservercertificate') === 'true',
      ...(instanceName === undefined ? {} : { instanceName }),
    },
  }
}

/** The statements for a scratch database. Readers wait in it, or do not, as in the user's own. */
export const mssqlScratch: {
  readonly make: (name: string) => string
  readonly settings: string
  readonly set: (name: string, setting: string, isOn: boolean) => string
  readonly remove: (name: string) => string
} = {
  make: (name) => `CREATE DATABASE [${name}]`,
  settings:
    'SELECT CAST(is_read_committed_snapshot_on AS int) AS committed, snapshot_isolation_state AS whole ' +
    'FROM sys.databases WHERE database_id = DB_ID()',
  set: (name, setting, isOn) => `ALTER DATABASE [${name}] SET ${setting} ${isOn ? 'ON' : 'OFF'}`,
  remove: (name) =>
    `IF DB_ID(N'${name}') IS NOT NULL BEGIN ` +
    `ALTER DATABASE [${name}] SET SINGLE_USER WITH ROLLBACK IMMEDIATE; DROP DATABASE [${name}]; END`,
}

function scratch({ url, name, reach }: ScratchOrder): ReturnType<Driver['scratch']> {
  return {
    url: intoDatabase(url, name),
    make: () => reach(url, (session) => make(session, name)),
    drop: () => reach(url, (session) => session.run(sql(mssqlScratch.remove(name)))),
  }
}

async function make(session: Session, name: string): Promise<void> {
  const [row] = await session.run(sql(mssqlScratch.settings))
  const isWhole = [1, 3].includes(Number(row?.whole)) // 1 is on, 3 is on its way to it
  await session.run(sql(mssqlScratch.make(name)))
  await session.run(sql(mssqlScratch.set(name, 'READ_COMMITTED_SNAPSHOT', Number(row?.committed) === 1)))
  await session.run(sql(mssqlScratch.set(name, 'ALLOW_SNAPSHOT_ISOLATION', isWhole)))
}
