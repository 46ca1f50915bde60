import type { Row, Value } from '../../src/core/statement.ts'
import type { Engine, Server } from './engine.ts'
import { connectMysql, openMysqlSession, queryMysql } from './mysql-session.ts'
import { databaseName, intoDatabase, keptOpen } from './own-database.ts'
import { until } from './until.ts'

/** Asks the server something on the observer's connection. */
export type Ask = (sql: string, params?: readonly Value[]) => Promise<readonly Row[]>

/** Whether a connection waits for a row: the one thing that MySQL and MariaDB show in different places. */
export type WaitsForRow = (ask: Ask, connectionId: number) => Promise<boolean>

// information_schema.innodb_trx is of no use here: it is a copy that is made anew only after nobody has read it for
// 100 ms, so whoever polls faster than that sees the same old copy for ever.
// A lock that is free is PENDING too, for the moment in which it is granted. Who really waits has that as its state.
const PENDING = `
  select 1 from performance_schema.metadata_locks join performance_schema.threads on thread_id = owner_thread_id
   where processlist_id = ? and lock_status = 'PENDING'
     and (processlist_state = 'User lock' or processlist_state like 'Waiting for %lock')`

const HELD = `
  select concat('session ', processlist_id, ': open transaction') as line
    from performance_schema.events_transactions_current join performance_schema.threads using (thread_id)
   where processlist_db = ? and state = 'ACTIVE'
  union all
  select concat('session ', processlist_id, ': ', lower(lock_status), ' ', lock_type, ' on ', lower(object_type), ' ',
                coalesce(object_name, ''))
    from performance_schema.metadata_locks join performance_schema.threads on thread_id = owner_thread_id
   where processlist_db = ?`

const OBSERVABLE = `
  select (select count(*) from performance_schema.setup_instruments
           where name in ('wait/lock/metadata/sql/mdl', 'transaction') and enabled = 'YES')
       + (select count(*) from performance_schema.setup_consumers
           where name = 'events_transactions_current' and enabled = 'YES') as parts`

/** Makes a database on the server and observes it from a connection outside of it. */
export async function connectToMysql(server: Server, waitsForRow: WaitsForRow): Promise<Engine> {
  const database = databaseName()
  const url = intoDatabase(server.url, database)
  const observer = keptOpen(() => connectMysql(server.url))
  const ask: Ask = async (sql, params = []) => queryMysql(await observer(), sql, params)
  await checkObservable(ask)
  await ask(`create database ${database}`)
  return {
    server: { ...server, url },
    canObserveWaiting: true,
    open: () => openMysqlSession(url),
    isWaiting: async ({ id }) =>
      (await ask(PENDING, [Number(id)])).length > 0 || (await waitsForRow(ask, Number(id))),
    kill: ({ id }) => kill(ask, id),
    leftovers: async () => (await ask(HELD, [database, database])).map(({ line }) => String(line)),
    close: async () => {
      await endSessionsIn(ask, database)
      await ask(`drop database if exists ${database}`)
      await (await observer()).end()
    },
  }
}

async function checkObservable(ask: Ask): Promise<void> {
  const [row] = await ask(OBSERVABLE)
  if (Number(row?.parts) === 3) return
  throw new Error(
    'this server hides its locks: start it with performance_schema=ON, the instruments ' +
      'wait/lock/metadata/sql/mdl and transaction, and the consumer events_transactions_current',
  )
}

/** Ends the session and waits until the server has let go of it: KILL only leaves a note for the other thread. */
async function kill(ask: Ask, id: string): Promise<void> {
  await ask(`kill connection ${Number(id)}`)
  const isGone = async (): Promise<boolean> =>
    (await ask('select 1 from information_schema.processlist where id = ?', [Number(id)])).length === 0
  await until(isGone, `the end of session ${id}, which was killed`)
}

/** A session that a failed test left with an open transaction would block the drop for ever. */
async function endSessionsIn(ask: Ask, database: string): Promise<void> {
  const rows = await ask('select id from information_schema.processlist where db = ?', [database])
  for (const { id } of rows) await kill(ask, String(id)).catch(() => {}) // it may have ended by itself
}
