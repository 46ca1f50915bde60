import type { Row, Value } from '../../src/core/statement.ts'
import type { Engine, Server } from './engine.ts'
import { connectMssql, mssqlConfig, openMssqlSession, queryMssql } from './mssql-session.ts'
import { databaseName, intoDatabase } from './own-database.ts'
import { until } from './until.ts'

// The wait types of every lock begin with LCK, those of application locks as well:
// https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-os-wait-stats-transact-sql
const WAITING =
  "select 1 as yes from sys.dm_os_waiting_tasks where session_id = @p1 and wait_type like 'LCK%'"

// Every session has a shared lock on its database, which says nothing.
const HELD = `
  select concat('session ', s.session_id, ': ', case when l.request_status like 'GRANT%' then 'holds' else 'wants' end,
                ' ', l.request_mode, ' on ', l.resource_type, ' ', rtrim(l.resource_description)) as line
    from sys.dm_tran_locks l join sys.dm_exec_sessions s on s.session_id = l.request_session_id
   where s.is_user_process = 1 and s.session_id <> @@spid
     and l.resource_database_id = db_id(@p1) and l.resource_type <> 'DATABASE'
  union all
  select concat('session ', s.session_id, ': open transaction') from sys.dm_exec_sessions s
   where s.is_user_process = 1 and s.session_id <> @@spid and s.database_id = db_id(@p1)
     and exists (select 1 from sys.dm_tran_session_transactions t
                  where t.session_id = s.session_id and t.is_user_transaction = 1)`

// A number is given to another session soon after its own has ended: the login tells them apart.
const LOGIN =
  'select convert(nvarchar(30), login_time, 126) as login from sys.dm_exec_sessions where session_id = @p1'

type Ask = (sql: string, params?: readonly Value[]) => Promise<readonly Row[]>

/** Makes a database on the server and observes it from connections outside of it. */
export async function connectToMssql(server: Server): Promise<Engine> {
  const database = databaseName()
  const url = intoDatabase(server.url, database)
  const observer = await connectMssql(mssqlConfig(server.url)) // it opens new connections where some broke
  const ask: Ask = (sql, params) => queryMssql(observer, sql, params)
  await ask(`create database ${database}`)
  return {
    server: { ...server, url },
    canObserveWaiting: true,
    open: () => openMssqlSession(url),
    isWaiting: async ({ id }) => (await ask(WAITING, [Number(id)])).length > 0,
    kill: ({ id }) => kill(ask, Number(id)),
    leftovers: async () => (await ask(HELD, [database])).map(({ line }) => String(line)),
    close: async () => {
      // ends the sessions that a failed test left there
      await ask(
        `alter database ${database} set single_user with rollback immediate; drop database ${database}`,
      )
      await observer.close()
    },
  }
}

/** Ends the session and waits until its transaction is rolled back, which KILL only begins. It takes no variable. */
async function kill(ask: Ask, id: number): Promise<void> {
  const login = async (): Promise<unknown> => (await ask(LOGIN, [id]))[0]?.login
  const before = await login()
  await ask(`kill ${id}`)
  await until(async () => (await login()) !== before, `the end of session ${id}, which was killed`)
}
