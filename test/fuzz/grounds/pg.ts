import pg from 'pg'

import { createLocks } from '../../../src/entries/pg.ts'
import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { hideTx, ofServer, poolSize, type Ground, type Way } from '../ground.ts'
import { overBadNetwork } from './bad-network.ts'

/** What is the same on every clean connection. `now()` is older than its statement in a transaction that was open before. */
export const postgresSettings = `
  select concat_ws(' ', current_setting('lock_timeout'), current_setting('statement_timeout'),
                   current_setting('transaction_isolation'), current_setting('transaction_read_only'),
                   now() = statement_timestamp(),
                   (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory')) as line`

export function poolOf(url: string, max: number = poolSize): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return pool
}

export function groundOn(pool: pg.Pool, pipeline?: boolean): Ground<pg.PoolClient> {
  const locks = createLocks(pool, { pipeline })
  const settingsOf = async (): Promise<string> => {
    const client = await pool.connect()
    try {
      return String((await client.query<{ line: string }>(postgresSettings)).rows[0]?.line)
    } catch (error) {
      return String(error)
    } finally {
      client.release()
    }
  }
  return {
    ...ofServer,
    locks,
    rows: (tx, { row, ...lock }) => locks.rows(tx, { table: 'spot', key: { id: row } }, lock),
    send: (tx, statement) => tx.query(sqlOnly(statement).sql),
    say: (tx, word) => tx.query(word),
    idOf: (tx) => String((tx as unknown as { processID: number }).processID),
    settings: () => Promise.all(Array.from({ length: pool.options.max }, settingsOf)),
    close: () => pool.end(),
  }
}

/** Every second connection has another default level than the first, on which the application has taken a lock. */
async function openWithLevels(url: string): Promise<Ground<pg.PoolClient>> {
  const pool = poolOf(url)
  let count = 0
  pool.on('connect', (client) => {
    count += 1
    if (count % 2 === 0) void client.query("set default_transaction_isolation = 'repeatable read'")
  })
  const ground = groundOn(pool)
  await ground.locks.withLock(['fuzz', 0], async () => {})
  const withoutLevel = (line: string): string => line.replace(/read committed|repeatable read/, 'some level')
  return { ...ground, settings: async () => (await ground.settings()).map(withoutLevel) }
}

export const onPg: readonly Way[] = [
  hideTx({ title: 'pg', engines: ['postgres'], open: async (url) => groundOn(poolOf(url)) }),
  hideTx({
    title: 'pg, one by one',
    engines: ['postgres'],
    open: async (url) => groundOn(poolOf(url), false),
  }),
  hideTx({ title: 'pg, pipelined', engines: ['postgres'], open: async (url) => groundOn(poolOf(url), true) }),
  hideTx({ title: 'pg, levels that differ', engines: ['postgres'], open: openWithLevels }),
  hideTx({
    title: 'pg, a bad network',
    isSlow: true,
    engines: ['postgres'],
    open: (target, engine) => overBadNetwork(target, engine, (url) => groundOn(poolOf(url, 1))),
  }),
]
