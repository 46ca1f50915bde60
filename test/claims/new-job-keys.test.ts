import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import type { Enqueued } from '../../src/locks/queue/enqueue.ts'
import { caught } from '../entries/stage.ts'
import { newJobTable, type NewJobQueue } from './new-job-stage.ts'
import { describeQueues, describeQueuesAndKysely, type QueueStage } from './stage.ts'

describe('the keys of new jobs', () => {
  describeQueuesAndKysely(specs)

  describe('through other drivers', () => {
    describeQueues(specs, { only: ['postgres'], adapter: 'postgres.js' })
    describeQueues(specs, { only: ['mysql', 'mariadb'], adapter: 'mariadb' })
  })
})

function specs(stage: QueueStage): void {
  const texts = newJobTable(stage, 'text_job')
  const numbers = newJobTable(stage, 'number_job', 'BIGINT')
  const enqueue = (jobs: unknown, queue: NewJobQueue = texts.jobs): Promise<Enqueued> =>
    stage.shop.claims.enqueue(queue, jobs as never)
  const counts = async (jobs: unknown, queue?: NewJobQueue): Promise<readonly number[]> => {
    const { stored, existing } = await enqueue(jobs, queue)
    return [stored.length, existing.length]
  }

  test('that are null are no keys', async () => {
    expect(await counts({ title: 'a', k: null })).toEqual([1, 0])
    expect(
      await counts([
        { title: 'b', k: null },
        { title: 'c', k: undefined },
      ]),
    ).toEqual([2, 0])
    expect(await texts.keys()).toEqual([null, null, null])
  })

  test('may be empty', async () => {
    expect(await counts({ k: '' })).toEqual([1, 0])
    expect(await counts({ k: '' })).toEqual([0, 1])
  })

  test('that are numbers find no other texts', async () => {
    await enqueue([{ k: '1abc' }, { k: '01' }, { k: 'x' }])
    const [first] = (await enqueue({ k: 1 })).stored
    expect(await enqueue({ k: 1 })).toEqual({ stored: [], existing: [first] })
    expect(await counts([{ k: 1n }, { k: 2 }])).toEqual([1, 1])
    expect(await texts.all()).toHaveLength(5)
  })

  test('that are large stay what they are', async () => {
    const [low, high] = [9_007_199_254_740_992n, 9_007_199_254_740_993n]
    expect(await counts({ k: high }, numbers.jobs)).toEqual([1, 0])
    expect(await counts([{ k: low }, { k: high }], numbers.jobs)).toEqual([1, 1])
    expect(await counts([{ k: low }, { k: high }, { k: 7 }], numbers.jobs)).toEqual([1, 2])
  })

  test.each([Number.NaN, Infinity, 1.5, 2 ** 53, true, {}])(
    'that are not texts or exact numbers are refused: %s',
    async (k) => {
      const error = await caught(enqueue({ k }))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(String(error)).toContain('is not a text or a whole number that JavaScript holds exactly')
    },
  )

  test('are the same when the index says so', async () => {
    const { stored } = await enqueue(['A', 'a', 'b'].map((k) => ({ k })))
    const again = await enqueue(['b', 'B', 'a'].map((k) => ({ k })))
    const rows = await texts.all()
    expect(rows).toHaveLength(stored.length + again.stored.length)
    expect(rows).toHaveLength(['mysql', 'mariadb'].includes(stage.name) ? 2 : 4)
    expect(new Set([...stored, ...again.stored, ...again.existing].map(String)).size).toBe(rows.length)
  })

  test('are told with ids that are exact, or nothing is stored', async ({ skip }) => {
    if (stage.isDocuments) return skip('ids are no numbers there')
    const ids = [9_007_199_254_740_993n, 9_007_199_254_740_995n]
    const storing = enqueue(ids.map((id) => ({ id, k: String(id) })))
    const outcome = await storing.then(
      ({ stored }) => stored.map(String),
      (error: unknown) => error,
    )
    if (outcome instanceof LockUsageError) expect(await texts.all()).toEqual([])
    else expect(outcome).toEqual(ids.map(String))
  })
}
