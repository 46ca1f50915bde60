import { createLocks } from '../../src/entries/pg.ts'
import { openPool } from '../pool.ts'
import { clearJobs, countReady, createJobTable, fillJobs, jobQueue } from './job-table.ts'
import { drainBy, type QueueSide } from './queue-side.ts'

export interface HoldfastOptions {
  readonly url: string
  readonly name: string
  readonly table: string
  readonly done: 'set' | 'delete'
  readonly maxWorkers: number
}

export function holdfastSide({ url, name, table, done, maxWorkers }: HoldfastOptions): QueueSide {
  const pool = openPool(url, maxWorkers)
  const locks = createLocks(pool)
  const jobs = jobQueue(table, done)
  let before = 0
  return {
    name,
    open: async (finished) => {
      before = finished
      await createJobTable(pool, table, finished)
    },
    fill: (count) => fillJobs(pool, table, count),
    drain: ({ workers, batch, jobs: count }) =>
      drainBy({ workers, jobs: count }, async () => {
        const claimed = await locks.claim(jobs, { limit: batch, worker: 'bench' })
        const [first] = claimed
        if (claimed.length === 1) await first?.complete()
        else if (claimed.length > 1) await locks.complete(jobs, claimed)
        return claimed.length
      }),
    left: () => countReady(pool, table),
    clear: () => clearJobs(pool, table, before),
    close: async () => {
      await pool.query(`DROP TABLE ${table}`)
      await pool.end()
    },
  }
}
