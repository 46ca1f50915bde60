/** One way to have a queue in PostgreSQL, with a table of its own. */
export interface QueueSide {
  readonly name: string
  /** Makes the tables, with this many jobs that are done. */
  readonly open: (finished: number) => Promise<void>
  /** Stores so many jobs that are ready. Not timed. */
  readonly fill: (jobs: number) => Promise<void>
  /** Claims and completes all of them: `batch` at a time, by so many workers. Gives jobs per second. */
  readonly drain: (load: QueueLoad) => Promise<number>
  /** How many jobs are still there: 0 after `drain`, or the figure means nothing. Not timed. */
  readonly left: () => Promise<number>
  /** Removes what `drain` has finished, so that each round meets the same table. Not timed. */
  readonly clear: () => Promise<void>
  /** Drops the tables as well. */
  readonly close: () => Promise<void>
}

export interface QueueLoad {
  readonly workers: number
  readonly batch: number
  readonly jobs: number
}

/** Runs the workers until none of them finds a job. Each `step` gives how many jobs it has completed. */
export async function drainBy(
  { workers, jobs }: Pick<QueueLoad, 'workers' | 'jobs'>,
  step: () => Promise<number>,
): Promise<number> {
  const before = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      // a worker that finds nothing while others still have jobs would find nothing again
      for (let count = 1; count > 0 && done < jobs;) {
        count = await step()
        done += count
      }
    }),
  )
  return (done * 1000) / (performance.now() - before)
}
