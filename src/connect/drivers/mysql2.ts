import { sessions, type Mysql2Pool } from '../../adapters/mysql2/sessions.ts'
import type { Connected } from '../../conformance/subject.ts'
import type { Session } from '../../core/session.ts'
import { intoDatabase } from '../address.ts'
import type { Driver, ScratchOrder } from '../driver.ts'
import { endable } from '../ending.ts'
import { limits } from '../limits.ts'
import { namesIn, sql } from '../rows.ts'
import { atMost } from '../within.ts'

interface Mysql2Module {
  readonly createPool: (options: object) => OwnPool
}

interface OwnPool extends Mysql2Pool {
  on(event: 'connection', listener: (connection: OwnConnection) => void): unknown
  end(): Promise<void>
}

interface OwnConnection {
  on(event: 'error' | 'end', listener: () => void): unknown
  destroy(): void
}

/** `mysql2`, to MySQL and MariaDB. */
export const mysql2: Driver = {
  name: 'mysql2',
  module: 'mysql2/promise',
  protocols: ['mysql:', 'mariadb:'],
  example: 'mysql://user:password@localhost:3306/database',
  dialects: ['mysql', 'mariadb'],
  open: async (module, url, size) => open(module as Mysql2Module, url, size),
  // https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
  failures: {
    1044: 'login', // to this database
    1045: 'login',
    1049: 'address', // no such database
    1698: 'login', // without a password
    1820: 'login', // the password has to be changed first
    3118: 'login', // the account is locked
    4151: 'login', // the same on MariaDB
    1142: 'rights',
    1227: 'rights',
    1290: 'rights', // the server is read-only
    1792: 'rights', // the transaction is
    1836: 'rights', // the server is, for all users
  },
  scratch,
  scratchNeeds: 'GRANT ALL ON `holdfast\\_verify\\_%`.* TO this user',
  currentDatabase: sql('SELECT DATABASE() AS name'),
  tables: (session) =>
    namesIn(
      session,
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    ),
}

function open({ createPool }: Mysql2Module, url: string, size: number): Connected {
  const connections = new Set<OwnConnection>()
  const pool = createPool({ uri: url, connectionLimit: size, connectTimeout: limits.openMs })
  pool.on('connection', (connection) => {
    connections.add(connection)
    connection.on('error', () => {}) // the pool replaces it
    connection.on('end', () => connections.delete(connection))
  })
  return endable(sessions(pool), async () => {
    if (!(await atMost(limits.goodbyeMs, pool.end()))) for (const one of connections) one.destroy()
  })
}

function scratch({ url, name, reach }: ScratchOrder): ReturnType<Driver['scratch']> {
  const make = sql(`CREATE DATABASE \`${name}\``)
  return {
    url: intoDatabase(url, name),
    make: () => reach(url, (session) => session.run(make)),
    drop: () => reach(url, (session) => drop(session, name)),
  }
}

/** A transaction that is open in it would keep it from being dropped. */
async function drop(session: Session, name: string): Promise<void> {
  const users = await session.run({
    sql: 'SELECT id FROM information_schema.processlist WHERE db = ?',
    params: [name],
  })
  // it may have ended by itself
  for (const { id } of users) await session.run(sql(`KILL ${Number(id)}`)).catch(() => {})
  await session.run(sql(`SET SESSION lock_wait_timeout = ${limits.workMs / 1000}`))
  await session.run(sql(`DROP DATABASE IF EXISTS \`${name}\``))
}
