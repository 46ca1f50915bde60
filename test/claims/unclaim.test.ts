import { describe, expect, test } from 'vitest'

import { reached } from '../../src/core/on-demand.ts'
import type { Value } from '../../src/core/statement.ts'
import { jobs } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'
import { dialectOf } from './workshop.ts'

describe('a job that is given back before its work has begun', () => {
  describeQueues(specs)
})

function specs(stage: QueueStage): void {
  const giveBack = async (reset: () => Promise<unknown>): Promise<unknown> => {
    await stage.table.add([{ id: 1, attempts: 0 }])
    const [job] = await stage.shop.claims.claim(jobs)
    if (job === undefined) throw new Error('nothing was claimed')
    expect(job.attempts).toBe(1)
    await reset()
    const held = { id: job.id as Value, token: job.token }
    const { unclaim } = await reached(dialectOf(stage.name).claim)
    for (const statement of unclaim(jobs.shape, held).statements) await stage.shop.run(statement)
    const [again] = await stage.shop.claims.claim(jobs)
    return again?.attempts
  }

  test('has not used up an attempt', async () => {
    expect(await giveBack(async () => {})).toBe(1)
  })

  test('has no fewer than none, also when they were reset meanwhile', async () => {
    const reset = stage.isDocuments
      ? { command: { update: 'job', updates: [{ q: {}, u: { $set: { attempts: 0 } } }] } }
      : { sql: 'UPDATE job SET attempts = 0', params: [] }
    expect(await giveBack(() => stage.table.run(reset))).toBe(1)
  })
}
