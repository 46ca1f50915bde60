import type { JobCounts, Tally } from '../../dialects/claim.ts'
import { callQueue, type ClaimVisit } from './claim-call.ts'
import type { ClaimPort } from './claim.ts'
import { looksOfDead } from './dead-looks.ts'
import type { Queue } from './queue-definition.ts'

/** How many jobs a queue has, when they were counted. */
export interface QueueStats {
  /** Jobs that a worker can claim now, those of workers that did not finish in time among them. */
  readonly ready: number
  /** Jobs that were released with a delay that is not over. */
  readonly delayed: number
  /** Jobs that a worker has. */
  readonly claimed: number
  /** Jobs that were claimed too often: dead letters, and those that the next sweep puts aside. Absent without `dead`. */
  readonly dead?: number
}

/** Counts the jobs of a queue, by the server's clock. It reads the queue's rows, so it is for dashboards, not for every job. */
export function stats<Tx>({ port }: ClaimPort<Tx>, queue: Queue<object>): Promise<QueueStats> {
  const { shape, dead: set } = queue
  const work = async ({ session, claiming }: ClaimVisit): Promise<QueueStats> => {
    const ask = async <N>({ statement, read }: Tally<N>): Promise<N> => read(await session.run(statement))
    const { spent, ...counts }: JobCounts = await ask(claiming.tally(shape))
    if (set === undefined) return counts
    return { ...counts, dead: spent + (await ask(claiming.tallyDead(shape, looksOfDead(queue, set)))) }
  }
  return callQueue(port, { queue, work })
}
