import { loadPeer } from '../peers.ts'
import { openPool } from '../pool.ts'
import { drainBy, type QueueSide } from './queue-side.ts'

/** What is used of pg-boss. */
interface PgBossModule {
  readonly PgBoss: new (options: object) => Boss
}

interface Boss {
  readonly on: (event: 'error', listener: (error: Error) => void) => void
  readonly start: () => Promise<unknown>
  readonly stop: (options: object) => Promise<void>
  readonly createQueue: (name: string) => Promise<void>
  readonly insert: (name: string, jobs: readonly object[]) => Promise<unknown>
  readonly fetch: (name: string, options: { readonly batchSize: number }) => Promise<readonly BossJob[]>
  readonly complete: (name: string, ids: readonly string[]) => Promise<unknown>
}

interface BossJob {
  readonly id: string
}

const name = 'bench'

/** pg-boss as its documentation says for batches: `fetch` with a batch size, and `complete` with all ids at once. */
export async function pgBossSide({
  url,
  maxWorkers,
}: {
  readonly url: string
  readonly maxWorkers: number
}): Promise<QueueSide | undefined> {
  const peer = await loadPeer<PgBossModule>('pg-boss')
  if (peer === undefined) return undefined
  // its own upkeep would come in the middle of somebody's round
  const boss = new peer.PgBoss({ connectionString: url, max: maxWorkers, supervise: false, schedule: false })
  boss.on('error', () => {})
  const pool = openPool(url, 1)
  return {
    name: 'pg-boss',
    open: async (finished) => {
      await boss.start()
      await boss.createQueue(name)
      await pool.query('ALTER TABLE pgboss.job_common SET (autovacuum_enabled = off)')
      await pool.query(
        `INSERT INTO pgboss.job (name, data, state, started_on, completed_on)
         SELECT $1, '{"to":"a@b.c"}', 'completed', now(), to_timestamp(0) FROM generate_series(1, ${finished})`,
        [name],
      )
    },
    fill: async (jobs) => {
      const all = Array.from({ length: jobs }, (_, n) => ({ data: { to: 'a@b.c' }, priority: n % 7 }))
      for (let start = 0; start < jobs; start += 2000) await boss.insert(name, all.slice(start, start + 2000))
      await pool.query('VACUUM (ANALYZE) pgboss.job_common')
    },
    drain: ({ workers, batch, jobs }) =>
      drainBy({ workers, jobs }, async () => {
        const fetched = await boss.fetch(name, { batchSize: batch })
        const ids = fetched.map(({ id }) => id)
        if (ids.length > 0) await boss.complete(name, ids)
        return ids.length
      }),
    left: async () => {
      const { rows } = await pool.query<{ done: string }>(
        "SELECT count(*) AS done FROM pgboss.job WHERE state <> 'completed'",
      )
      return Number(rows[0]?.done)
    },
    clear: async () => {
      await pool.query('DELETE FROM pgboss.job WHERE completed_on > to_timestamp(0)')
      await pool.query('VACUUM pgboss.job_common')
    },
    close: async () => {
      await boss.stop({ graceful: false })
      await pool.query('DROP SCHEMA pgboss CASCADE')
      await pool.end()
    },
  }
}
