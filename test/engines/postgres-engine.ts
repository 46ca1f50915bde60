import type { Engine, Server } from './engine.ts'
import { databaseName, intoDatabase, keptOpen } from './own-database.ts'
import { connectPostgres, openPostgresSession } from './postgres-session.ts'

// Transactions that PostgreSQL's own workers hold are none of ours; every transaction holds its own virtualxid.
const HELD = `
  select format('session %s (%s): %s %s on %s%s', a.pid, a.state, case when l.granted then 'holds' else 'wants' end,
                l.mode, l.locktype, coalesce(' ' || l.relation::regclass::text, '')) as line
    from pg_locks l join pg_stat_activity a using (pid)
   where a.datname = $1 and a.backend_type = 'client backend' and l.locktype <> 'virtualxid'
  union all
  select format('session %s: %s', pid, state) from pg_stat_activity
   where datname = $1 and state like 'idle in transaction%'
  union all
  select format('prepared transaction %s', gid) from pg_prepared_xacts where database = $1`

/** Makes a database on the server and observes it from a connection outside of it. */
export async function connectToPostgres(server: Server): Promise<Engine> {
  const database = databaseName()
  const url = intoDatabase(server.url, database)
  const observer = keptOpen(() => connectPostgres(server.url))
  const ask = async (
    sql: string,
    params: readonly unknown[] = [],
  ): Promise<readonly Record<string, unknown>[]> =>
    (await (await observer()).query<Record<string, unknown>>(sql, [...params])).rows
  await ask(`create database ${database}`)
  return {
    server: { ...server, url },
    canObserveWaiting: true,
    open: () => openPostgresSession(url),
    // from the lock table itself: it knows rows, transactions, relations and advisory locks alike
    isWaiting: async ({ id }) =>
      (await ask('select cardinality(pg_blocking_pids($1)) > 0 as waits', [Number(id)]))[0]?.waits === true,
    kill: async ({ id }) => void (await ask('select pg_terminate_backend($1, 120000)', [Number(id)])),
    leftovers: async () => (await ask(HELD, [database])).map(({ line }) => String(line)),
    close: async () => {
      const drop = `drop database if exists ${database}`
      // The server waits for those who are about to leave. By force it would tell them why, and a pool that has just been
      // ended, and to which nobody listens any longer, ends the process when it hears of that.
      await ask(drop).catch(() => ask(`${drop} with (force)`))
      await (await observer()).end()
    },
  }
}
