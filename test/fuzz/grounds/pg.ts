import pg from 'pg'

import { createLocks } from '../../../src/entries/pg.ts'
import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { hideTx, ofServer, poolSize, type Ground, type Way } from '../ground.ts'

/** What is the same on every clean connection. `now()` is older than its statement in a transaction that was open before. */
export const postgresSettings = `
  select concat_ws(' ', current_setting('lock_timeout'), current_setting('statement_timeout'),
                   current_setting('transaction_isolation'), current_setting('transaction_read_only'),
                   now() = statement_timestamp(),
                   (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory')) as line`

async function open(url: string, pipeline: boolean): Promise<Ground<pg.PoolClient>> {
  const pool = new pg.Pool({ connectionString: url, max: poolSize })
  pool.on('error', () => {})
  return groundOn(pool, pipeline)
}

export function groundOn(pool: pg.Pool, pipeline: boolean): Ground<pg.PoolClient> {
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
    settings: () => Promise.all(Array.from({ length: poolSize }, settingsOf)),
    close: () => pool.end(),
  }
}

export const onPg: readonly Way[] = [
  hideTx({ title: 'pg', engines: ['postgres'], open: (url) => open(url, false) }),
  hideTx({ title: 'pg, pipelined', engines: ['postgres'], open: (url) => open(url, true) }),
]
