import { setTimeout as pause } from 'node:timers/promises'

import { LockLostError } from '../../core/errors.ts'
import type { Job } from '../../locks/queue/job.ts'
import { awakeMs } from '../awake.ts'
import { unlocked } from '../controls.ts'
import {
  claimsByFastClock,
  claimsBySlowClock,
  endsAnybodysJob,
  forgetsToTell,
} from '../controls/claim-defects.ts'
import { addJobs, type JobTable } from '../job-table.ts'
import { BrokenLawError } from '../broken-law.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import type { Client } from '../subject.ts'
import { describeValue } from '../trace.ts'
import { rejectionOf } from '../writer.ts'
import { expectIds, noted } from './claiming.ts'

/** How long the claim of somebody who dies keeps others away. */
const visibilityMs = 300
/** A job that has not come back by then does not come back. */
const withinMs = 4000

/** Claims until there is a job. Whoever was dead loses it. */
async function untilClaimed({ locks }: Client, { queue }: JobTable, limit = 1): Promise<readonly Job[]> {
  const deadline = awakeMs() + withinMs
  for (;;) {
    const jobs = await locks.claim(queue, { limit })
    if (jobs.length > 0) return jobs
    if (awakeMs() > deadline) throw new BrokenLawError(`no job has come back in ${withinMs} ms`)
    await pause(20)
  }
}

/** A job that was claimed by `a`, and by `b` when its time was over. */
async function staleAndNew(stage: Stage, table: JobTable): Promise<{ stale: Job; current: Job }> {
  const [a, b] = [await stage.client('a'), await stage.client('b')]
  const [stale] = await noted(stage, 'a', a.locks.claim(table.queue, { visibilityMs: 100 }))
  const [current] = await noted(stage, 'b', untilClaimed(b, table))
  if (stale === undefined || current === undefined) throw new BrokenLawError('there was no job')
  return { stale, current }
}

async function expectLost(stage: Stage, does: string, work: Promise<unknown>): Promise<void> {
  const error = await rejectionOf(does, work)
  stage.expect(error instanceof LockLostError, `${does}: failed with ${describeValue(error)}`)
}

/** What becomes of a job that was claimed. */
export const claimEndLaws: readonly Law[] = [
  defineLaw({
    id: 'C5',
    says: "A dead worker's job becomes available when its visibility ends on the server's clock, not earlier.",
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, [1])
      const [a, b] = [await stage.client('a'), await stage.client('b')]
      // a time that no machine is too slow for
      const kept = await addJobs(stage, [1], 'kept')
      await noted(stage, 'a', a.locks.claim(kept.queue, { visibilityMs: 600_000 }))
      const early = await noted(stage, 'b', b.locks.claim(kept.queue))
      stage.expect(early.length === 0, 'the job came back before its time was over')
      const began = performance.now()
      await noted(stage, 'a', a.locks.claim(table.queue, { visibilityMs }))
      const [job] = await noted(stage, 'b', untilClaimed(b, table))
      const tookMs = performance.now() - began
      // clocks count whole milliseconds
      stage.expect(tookMs >= visibilityMs - 2, `the job came back after ${tookMs} ms, not ${visibilityMs}`)
      stage.expect(job?.attempts === 2, `it was claimed ${job?.attempts} times, not twice`)
    },
    control: claimsBySlowClock,
  }),
  defineLaw({
    id: 'C6',
    says: 'A reclaim frees the jobs of dead workers, and no others.',
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, [1, 2])
      const [a, b] = [await stage.client('a'), await stage.client('b')]
      // who lives comes first: later, on a slow machine, the job of who dies would be free for it already
      await b.locks.claim(table.queue)
      await a.locks.claim(table.queue, { visibilityMs })
      const deadline = awakeMs() + withinMs
      let freed = 0
      while (freed === 0 && awakeMs() < deadline) {
        freed = (await b.locks.reclaim(table.queue)).freed
        await pause(20)
      }
      stage.expect(freed === 1, `${freed} jobs were freed, not one`)
      const tokens = (await table.rows()).map(({ claim_token: token }) => token !== null)
      stage.expect(tokens.join() === 'true,false', 'the job of somebody who is alive was freed')
    },
    control: claimsByFastClock,
  }),
  defineLaw({
    id: 'C7',
    says: 'A worker whose job was taken over can no longer complete, release or extend it.',
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, [1])
      const { stale, current } = await staleAndNew(stage, table)
      await expectLost(stage, 'a stale worker extends', stale.extend(60_000))
      await expectLost(stage, 'a stale worker releases', stale.release())
      await expectLost(stage, 'a stale worker completes', stale.complete())
      const [row] = await table.rows()
      stage.expect(row?.claim_token === current.token, 'the job was taken from who has it')
      await current.complete()
      await expectLost(stage, 'a worker completes twice', current.complete())
    },
    control: endsAnybodysJob,
  }),
  defineLaw({
    id: 'C8',
    says: 'A job completed in a transaction is completed together with its effect, or not at all.',
    features: ['claim'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const table = await addJobs(stage, [1])
      const client = await stage.client('a')
      const [job] = await client.locks.claim(table.queue)
      const finish = (own?: Error): Promise<void> =>
        client.locks.transaction(async (tx) => {
          await client.run(tx, stage.facts.tools.fixture.add(stage.table, 1, 1))
          await job?.complete({ tx })
          if (own !== undefined) throw own
        })
      const state = async (): Promise<string> => {
        const [row] = await table.rows()
        return `${(await stage.committed()).get(1)} ${String(row?.state)}`
      }
      const own = new Error('the work fails')
      const error = await rejectionOf('work that fails', stage.note('a', 'complete, and fail', finish(own)))
      stage.expect(error === own, `the work failed with ${describeValue(error)}`)
      stage.expect((await state()) === '0 ready', `after the failure: ${await state()}`)
      await stage.note('a', 'complete', finish())
      stage.expect((await state()) === '1 done', `after all: ${await state()}`)
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'C9',
    says: 'A released job is available to the next worker at once, or after the delay.',
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, [1])
      const [a, b] = [await stage.client('a'), await stage.client('b')]
      const [first] = await a.locks.claim(table.queue)
      await first?.release()
      const [second] = await b.locks.claim(table.queue)
      stage.expect(second !== undefined, 'a job that was released is not free')
      const began = performance.now()
      await second?.release({ delayMs: visibilityMs })
      await noted(stage, 'a', untilClaimed(a, table))
      const tookMs = performance.now() - began
      stage.expect(tookMs >= visibilityMs - 2, `the job was free after ${tookMs} ms, not ${visibilityMs}`)
    },
    control: forgetsToTell,
  }),
  defineLaw({
    id: 'C10',
    says: 'An extended job stays with its worker after its first visibility has ended.',
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, [1, 2])
      const [a, b] = [await stage.client('a'), await stage.client('b')]
      const [kept] = await a.locks.claim(table.queue, { limit: 2, visibilityMs })
      await kept?.extend(60_000)
      // the other one shows that the time is over
      const back = await noted(stage, 'b', untilClaimed(b, table, 2))
      expectIds(stage, back, [2])
      await kept?.complete()
    },
    control: forgetsToTell,
  }),
]
