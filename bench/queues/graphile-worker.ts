import { EventEmitter, once } from 'node:events'

import { loadPeer } from '../peers.ts'
import { openPool } from '../pool.ts'
import type { QueueSide } from './queue-side.ts'

/** What is used of graphile-worker. */
interface GraphileWorker {
  readonly Logger: new (factory: () => () => void) => object
  readonly run: (options: object) => Promise<{ readonly stop: () => Promise<void> }>
  readonly runMigrations: (options: object) => Promise<void>
}

/**
 * graphile-worker with the settings that its own page on performance calls the fastest: 24 jobs at once, 500 fetched at
 * a time, completed in batches without a delay. A worker more is another such pool.
 */
export async function graphileWorkerSide({ url }: { readonly url: string }): Promise<QueueSide | undefined> {
  const peer = await loadPeer<GraphileWorker>('graphile-worker')
  if (peer === undefined) return undefined
  const pool = openPool(url, 30)
  const shared = { pgPool: pool, noHandleSignals: true, logger: new peer.Logger(() => () => {}) }
  const left = async (): Promise<number> => {
    const { rows } = await pool.query<{ n: string }>(
      'SELECT count(*) AS n FROM graphile_worker._private_jobs',
    )
    return Number(rows[0]?.n)
  }
  return {
    name: 'graphile-worker',
    // it deletes what is done, so there are no finished jobs to be slowed down by
    open: async () => {
      await peer.runMigrations(shared)
      await pool.query('ALTER TABLE graphile_worker._private_jobs SET (autovacuum_enabled = off)')
    },
    fill: async (jobs) => {
      await pool.query(
        `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(SELECT json_populate_record(
           null::graphile_worker.job_spec, json_build_object('identifier', 'bench', 'payload',
             json_build_object('to', 'a@b.c'), 'priority', n % 7))
         FROM generate_series(1, ${jobs}) AS n))`,
      )
      await pool.query('VACUUM (ANALYZE) graphile_worker._private_jobs')
    },
    drain: async ({ jobs }) => {
      let startedAt = 0
      let run = 0
      const worker = {
        concurrentJobs: 24,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      }
      const ended = new EventEmitter()
      const isOver = once(ended, 'end')
      const bench = (): void => {
        // the first jobs were fetched before, and count all the same: the start of the runner does not
        if (run === 0) startedAt = performance.now()
        run += 1
        if (run === jobs) ended.emit('end')
      }
      const runner = await peer.run({ ...shared, taskList: { bench }, preset: { worker } })
      await isOver
      while ((await left()) > 0);
      const tookMs = performance.now() - startedAt
      await runner.stop()
      return (jobs * 1000) / tookMs
    },
    left,
    clear: async () => void (await pool.query('VACUUM graphile_worker._private_jobs')),
    close: async () => {
      await pool.query('DROP SCHEMA graphile_worker CASCADE')
      await pool.end()
    },
  }
}
