import { spreadOf, type Spread } from './figures.ts'
import { measuredJobs, type QueueStage } from './queue-stage.ts'
import type { ClaimReads } from './reads/claim-reads.ts'
import { readers } from './reads/readers.ts'

/** What claims of so many jobs cost on one queue. */
export interface Cost {
  readonly limit: number
  readonly time: Spread
  /** Absent on an engine that does not tell. */
  readonly reads?: ClaimReads
}

export interface Measured {
  readonly stage: QueueStage
  readonly costs: readonly Cost[]
}

export interface Rounds {
  readonly limit: number
  readonly count: number
  /** The first claims meet a cold server and code that was never run: these are not counted. */
  readonly warmUp: number
}

/**
 * Claims from each queue in turn, so that whatever else the machine does meets all of them alike. Each job is completed
 * before the next claim; only claims are timed.
 */
export async function measure(
  stages: readonly QueueStage[],
  rounds: readonly Rounds[],
): Promise<readonly Measured[]> {
  const costs = new Map<QueueStage, Cost[]>(stages.map((stage) => [stage, []]))
  for (const { limit, count, warmUp } of rounds) {
    const times = new Map<QueueStage, number[]>(stages.map((stage) => [stage, []]))
    for (let round = -warmUp; round < count; round += 1) {
      for (const stage of stages) {
        const ms = await timeClaim(stage, limit)
        if (round >= 0) times.get(stage)?.push(ms)
      }
    }
    for (const stage of stages) {
      const reads = await readers[stage.name]?.(stage, limit)
      costs.get(stage)?.push({ limit, time: spreadOf(times.get(stage) ?? []), ...(reads && { reads }) })
    }
  }
  return stages.map((stage) => ({ stage, costs: costs.get(stage) ?? [] }))
}

async function timeClaim({ shop, name }: QueueStage, limit: number): Promise<number> {
  const before = performance.now()
  const jobs = await shop.claims.claim(measuredJobs, { limit, worker: 'bench' })
  const ms = performance.now() - before
  if (jobs.length !== limit) throw new Error(`${name}: a claim of ${limit} got ${jobs.length} jobs`)
  for (const job of jobs) await job.complete()
  return ms
}
