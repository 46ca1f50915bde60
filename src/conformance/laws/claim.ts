import { awakeTimeout } from '../awake.ts'
import { claimsForNoTime, claimsLastFirst, claimsTooMany } from '../controls/claim-defects.ts'
import type { Facts } from '../facts.ts'
import { addJobs, idsOf } from '../job-table.ts'
import { defineLaw, type Law } from '../law.ts'
import { meetingOf } from '../meeting.ts'
import { describeValue } from '../trace.ts'
import { expectIds, noted } from './claiming.ts'

const oneWriter = ({ plan }: Facts): string | undefined =>
  plan('row-exclusive')?.support.granularity === 'database'
    ? 'an open transaction has the whole database, and a claim has to write'
    : undefined

/** The numbers from 1 up to this one, in an order by chance. */
function shuffled(count: number, random: () => number): readonly number[] {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  return numbers
    .map((n) => ({ n, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ n }) => n)
}

/** Who gets which jobs. */
export const claimLaws: readonly Law[] = [
  defineLaw({
    id: 'C1',
    says: 'Four workers that claim and complete at the same time do every job exactly once.',
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, shuffled(40, stage.random))
      const names = ['a', 'b', 'c', 'd']
      const all = meetingOf(names.length, stage)
      const done: number[] = []
      const drain = async (name: string): Promise<void> => {
        const { locks } = await stage.client(name)
        for (;;) {
          const limit = 1 + Math.floor(stage.random() * 4)
          const jobs = await locks.claim(table.queue, { limit, worker: name })
          await all() // each has claimed before the first job ends
          if (jobs.length === 0) return
          done.push(...idsOf(jobs))
          for (const job of jobs) await job.complete()
        }
      }
      const ends = await Promise.allSettled(
        names.map((name) => stage.note(name, 'claim and complete until none is left', drain(name))),
      )
      const twice = done.find((id, index) => done.indexOf(id) !== index)
      stage.expect(twice === undefined, `the job ${twice} was done more than once`)
      const failed = ends.find((end) => end.status === 'rejected')
      stage.expect(failed === undefined, `a worker failed with ${describeValue(failed?.reason)}`)
      stage.expect(done.length === 40, `${done.length} jobs were done, not 40`)
      const rows = await table.rows()
      const wrong = rows.find(({ state, attempts }) => state !== 'done' || Number(attempts) !== 1)
      stage.expect(wrong === undefined, `a job was left: ${describeValue(wrong)}`)
    },
    control: claimsForNoTime,
  }),
  defineLaw({
    id: 'C2',
    says: "One worker gets the jobs in the queue's order.",
    features: ['claim'],
    trial: async (stage) => {
      const table = await addJobs(stage, shuffled(9, stage.random))
      const { locks } = await stage.client('a')
      const order: number[] = []
      for (const limit of [1, 3, 5]) {
        const jobs = await noted(stage, 'a', locks.claim(table.queue, { limit }))
        order.push(...jobs.map(({ row }) => Number(row.n)))
      }
      stage.expect(order.join() === '1,2,3,4,5,6,7,8,9', `the order was ${order.join()}`)
    },
    control: claimsLastFirst,
  }),
  defineLaw({
    id: 'C3',
    says: 'A claim returns as many jobs as requested, or all there are.',
    features: ['claim'],
    trial: async (stage) => {
      const { queue } = await addJobs(stage, [1, 2, 3, 4])
      const { locks } = await stage.client('a')
      expectIds(stage, await locks.claim(queue), [1])
      expectIds(stage, await locks.claim(queue, { limit: 2 }), [2, 3])
      expectIds(stage, await locks.claim(queue, { limit: 5 }), [4])
      expectIds(stage, await locks.claim(queue, { limit: 5 }), [])
    },
    control: claimsTooMany,
  }),
  defineLaw({
    id: 'C4',
    says: "A claim never waits for another worker's job, not even while that worker completes it in an open transaction.",
    features: ['claim'],
    unless: oneWriter,
    trial: async (stage) => {
      const { queue } = await addJobs(stage, [1, 2, 3])
      const [a, b] = [await stage.client('a'), await stage.client('b')]
      const [job] = await a.locks.claim(queue)
      expectIds(stage, await noted(stage, 'b', b.locks.claim(queue)), [2])
      await a.locks.transaction(async (tx) => {
        await job?.complete({ tx })
        const signal = awakeTimeout(10_000)
        expectIds(stage, await noted(stage, 'b', b.locks.claim(queue, { signal })), [3])
      })
    },
    control: claimsForNoTime,
  }),
]
