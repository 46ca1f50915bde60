import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { DuckDBConnection } from '@duckdb/node-api'

import { loadDuckdb } from '../../engines/duckdb-driver.ts'
import { openDuckdbSession, type DuckdbSession } from '../../engines/duckdb-session.ts'
import { databaseName } from '../../engines/own-database.ts'
import type { Expected, Provocations, Scenario } from '../scenario.ts'
import { errorOf, type Stage } from '../stage.ts'
import { sql } from './sql.ts'

/** The statement in a transaction that has begun before another one, still open, runs the other statement. */
function against(others: string, statement: string): Scenario['run'] {
  return async (stage) => {
    const [session, other] = [await stage.victim(), await stage.open()]
    await other.begin()
    await other.run(sql(others))
    return { session, error: await errorOf(session.run(sql(statement))) }
  }
}

/** The commit of the statement after another transaction has committed the other statement. */
function commitAfter(others: string, statement: string): Scenario['run'] {
  return async (stage) => {
    const [session, other] = [await stage.victim(), await stage.open()]
    await session.run(sql(statement))
    await other.run(sql(others))
    return { session, error: await errorOf(session.commit()) }
  }
}

const inTransaction =
  (statement: string): Scenario['run'] =>
  async (stage) => {
    const session = await stage.victim()
    return { session, error: await errorOf(session.run(sql(statement))) }
  }

const conflict = (key: string): Expected => ({ kind: 'write-conflict', transaction: 'aborted', key })
const duplicate = (key: string): Expected => ({ kind: 'unique-violation', transaction: 'aborted', key })
const harmless = (key: string): Expected => ({ kind: 'other', transaction: 'open', key })

/** A session whose connection the test has in its hand as well. */
async function rawSession(stage: Stage): Promise<{ connection: DuckDBConnection; session: DuckdbSession }> {
  const driver = await loadDuckdb()
  const instance = await driver.DuckDBInstance.fromCache(stage.engine.server.url)
  const connection = await instance.connect()
  const session = openDuckdbSession(driver, connection, 'raw')
  stage.afterwards(() => session.close())
  return { connection, session }
}

const closedHandles: readonly Scenario[] = (
  [
    ['query', (connection: DuckDBConnection) => connection.run('select 1')],
    ['prepare', (connection: DuckDBConnection) => connection.prepare('select 1')],
    ['extract statements', (connection: DuckDBConnection) => connection.runAndReadAll('select $1', [1])],
  ] as const
).map(([what, use]): Scenario => ({
  name: `${what} on a connection that was closed`,
  expect: {
    kind: 'connection-lost',
    transaction: 'unknown',
    key: `Failed to ${what}: connection disconnected`,
  },
  run: async (stage) => {
    const { connection } = await rawSession(stage)
    connection.disconnectSync()
    return { error: await errorOf((async () => use(connection))()) }
  },
}))

const scenarios: readonly Scenario[] = [
  {
    name: 'two transactions update one row',
    expect: conflict('TransactionContext Error: Conflict on update'),
    run: against('update items set n = 1 where id = 1', 'update items set n = 2 where id = 1'),
  },
  {
    name: 'an update of a row that another transaction has changed and committed',
    expect: conflict('TransactionContext Error: Conflict on update'),
    run: async (stage) => {
      const session = await stage.victim()
      await (await stage.open()).run(sql('update items set n = 1 where id = 1'))
      return { session, error: await errorOf(session.run(sql('update items set n = 2 where id = 1'))) }
    },
  },
  {
    name: 'two transactions delete one row',
    expect: conflict('TransactionContext Error: Conflict on tuple deletion'),
    run: against('delete from items where id = 1', 'delete from items where id = 1'),
  },
  {
    name: 'an insert into a table that another transaction alters',
    expect: conflict('TransactionContext Error: Transaction conflict'),
    run: against('alter table items add column more int', 'insert into items values (3, 0)'),
  },
  {
    name: 'two transactions alter one table',
    expect: conflict('TransactionContext Error: Catalog write-write conflict'),
    run: against('alter table items add column more int', 'alter table items add column other int'),
  },
  {
    name: 'two transactions insert one key',
    expect: {
      kind: 'unique-violation',
      transaction: 'rolled-back',
      key: 'TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE constraint violation',
    },
    run: commitAfter('insert into items values (3, 0)', 'insert into items values (3, 0)'),
  },
  {
    name: 'a commit of rows whose table another transaction has dropped',
    expect: {
      kind: 'write-conflict',
      transaction: 'rolled-back',
      key: 'TransactionContext Error: Failed to commit: Transaction conflict',
    },
    run: async (stage) => {
      await (await stage.open()).run(sql('create table doomed (id int)'))
      return commitAfter('drop table doomed', 'insert into doomed values (1)')(stage)
    },
  },
  {
    name: 'a key that is there already',
    expect: duplicate('Constraint Error: Duplicate key'),
    run: inTransaction('insert into items values (1, 0)'),
  },
  {
    name: 'a key twice in one transaction',
    expect: duplicate('Constraint Error: PRIMARY KEY or UNIQUE constraint violation'),
    run: async (stage) => {
      const session = await stage.victim()
      await session.run(sql('insert into items values (3, 0)'))
      return { session, error: await errorOf(session.run(sql('insert into items values (3, 0)'))) }
    },
  },
  {
    name: 'a statement after one that failed',
    expect: {
      kind: 'other',
      transaction: 'aborted',
      key: 'TransactionContext Error: Current transaction is aborted',
    },
    run: async (stage) => {
      const session = await stage.victim()
      await errorOf(session.run(sql("select cast('x' as int)")))
      return { session, error: await errorOf(session.run(sql('select 1'))) }
    },
  },
  {
    name: 'an error that is not about locks',
    expect: { kind: 'other', transaction: 'aborted', key: 'Conversion Error' },
    run: inTransaction("select cast('x' as int)"),
  },
  { name: 'a statement that is no SQL', expect: harmless('Parser Error'), run: inTransaction('selec 1') },
  {
    name: 'a column that does not exist',
    expect: harmless('Binder Error'),
    run: inTransaction('select x from items'),
  },
  {
    name: 'a table that does not exist',
    expect: harmless('Catalog Error'),
    run: inTransaction('select 1 from nowhere'),
  },
  {
    name: 'a statement that is interrupted',
    expect: { kind: 'cancelled', transaction: 'aborted', key: 'INTERRUPT Error' },
    run: async (stage) => {
      const { connection, session } = await rawSession(stage)
      await stage.marked(session)
      // an interrupt that comes before the statement has begun is lost
      const timer = setInterval(() => connection.interrupt(), 20)
      const endless = 'select count(*) from range(1000000000000) r(i) where hash(i) = 1'
      const error = await errorOf(session.run(sql(endless))).finally(() => clearInterval(timer))
      return { error, session, hasTransaction: session.hasTransaction }
    },
  },
  {
    name: 'a file that another process has open',
    expect: { kind: 'busy', transaction: 'unknown', key: 'IO Error: Could not set lock on file' },
    run: async (stage) => {
      const file = join(stage.engine.server.url, '..', `${databaseName()}.duckdb`)
      const script = `import { DuckDBInstance } from '@duckdb/node-api'
        const instance = await DuckDBInstance.create(${JSON.stringify(file)})
        process.stdin.resume().on('end', () => { instance.closeSync(); process.exit() })
        console.log('open')`
      const cwd = fileURLToPath(new URL('../../..', import.meta.url))
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd })
      const ended = once(child, 'exit')
      stage.afterwards(async () => {
        child.stdin.end()
        await ended
      })
      await once(child.stdout, 'data')
      return { error: await errorOf((await loadDuckdb()).DuckDBInstance.create(file)) }
    },
  },
  ...closedHandles,
  {
    name: 'a connection of a database that was closed',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'Failed to connect: instance closed' },
    run: async () => {
      const instance = await (await loadDuckdb()).DuckDBInstance.create(':memory:')
      instance.closeSync()
      return { error: await errorOf((async () => instance.connect())()) }
    },
  },
]

const duckdb: Provocations = {
  setUp: [
    sql('create table items (id int primary key, n int not null)'),
    sql('create table marks (name text not null)'),
  ],
  reset: [sql('delete from marks'), sql('delete from items'), sql('insert into items values (1, 0), (2, 0)')],
  mark: (name) => sql('insert into marks values ($1)', name),
  marks: sql('select name from marks'),
  scenarios,
  notProvoked: {
    'TransactionContext Error: Failed to commit': 'the rest of its family: a full disk, for one',
    'FATAL Error': 'takes a damaged file',
  },
}

export default duckdb
