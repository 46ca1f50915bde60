import type { Row } from '../core/statement.ts'
import type { Job } from '../locks/queue/job.ts'
import type { Queue } from '../locks/queue/queue-definition.ts'
import { queue } from '../locks/queue/queue.ts'
import type { Stage } from './stage.ts'

/** A queue of a law's own, with jobs in it. */
export interface JobTable {
  readonly queue: Queue
  /** The rows as they are committed, in the order of their ids. */
  readonly rows: () => Promise<readonly Row[]>
}

/** Makes a queue with one job for each of these numbers, by which they are ordered; their ids are 1, 2, 3. */
export async function addJobs(stage: Stage, numbers: readonly number[], suffix = 'jobs'): Promise<JobTable> {
  const { ground, facts } = stage
  const { fixture } = facts.tools
  const table = await stage.addTable(suffix, fixture.createQueue)
  const { locks, run } = ground.observer
  await locks.transaction(async (tx) => {
    for (const [index, n] of numbers.entries()) {
      await run(tx, fixture.insert(table, { id: index + 1, n, state: 'ready', attempts: 0 }))
    }
  })
  return {
    queue: queue({
      table,
      id: 'id',
      orderBy: 'n',
      where: { state: 'ready' },
      claim: { token: 'claim_token', until: 'claimed_until', worker: 'claimed_by', attempts: 'attempts' },
      done: { set: { state: 'done' } },
    }),
    rows: () => ground.command(fixture.all(table)),
  }
}

/** The ids of jobs, in their order. */
export function idsOf(jobs: readonly Job[]): readonly number[] {
  return jobs.map(({ id }) => Number(id))
}
