import { describe, expect, test } from 'vitest'

import { LockUsageError, RetryableTransactionError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { newJobTable } from './new-job-stage.ts'
import { describeQueues, type QueueStage } from './stage.ts'

describe('new jobs of one call are stored together', () => {
  describeQueues(specs)
})

function specs(stage: QueueStage): void {
  const table = newJobTable(stage, 'together_job')
  const id = stage.isDocuments ? '_id' : 'id'

  test('or not at all, also when the work has caught the error', async () => {
    const { enqueue } = stage.shop.claims
    await enqueue(table.jobs, { k: 'kept' })
    await table.setAll('state', 'done')
    let inside: unknown
    const call = stage.shop.transaction(async (tx) => {
      const jobs = [{ k: 'new' }, { title: 'without a key' }, { k: 'kept' }]
      inside = await caught(enqueue(table.jobs, jobs, { tx }))
    })
    const outside = await caught(call)
    expect(outside).toBeInstanceOf(LockUsageError)
    expect((outside as Error).cause).toBe(inside)
    expect(await table.keys()).toEqual(['kept'])
  })

  test('and an error before anything was stored is one that can be caught', async () => {
    await stage.shop.transaction(async (tx) => {
      const jobs = [{ k: 'a' }, { k: 'b', state: 'done' }]
      await caught(stage.shop.claims.enqueue(table.jobs, jobs, { tx }))
      await stage.shop.claims.enqueue(table.jobs, { k: 'c' }, { tx })
    })
    expect(await table.keys()).toEqual(['c'])
  })

  test('and a duplicate that is no race is not taken for one', async () => {
    const jobs = [
      { [id]: 1, title: 'a' },
      { [id]: 1, attempts: 1 },
    ]
    let attempts = 0
    const call = stage.shop.transaction((tx) => {
      attempts += 1
      return stage.shop.claims.enqueue(table.jobs, jobs, { tx })
    })
    expect(await caught(call)).not.toBeInstanceOf(RetryableTransactionError)
    expect(attempts).toBe(1)
    expect(await table.all()).toEqual([])
  })

  test('a thousand, with some that are there and some twice', async () => {
    const { enqueue } = stage.shop.claims
    const jobs = Array.from({ length: 1500 }, (_, index) => ({
      k: `k${index % 1000}`,
      title: 'x',
      attempts: 0,
    }))
    await enqueue(table.jobs, { k: 'k500' })
    const { stored, existing } = await enqueue(table.jobs, jobs)
    expect([new Set(stored.map(String)).size, existing.length]).toEqual([999, 1])
    const again = await enqueue(table.jobs, jobs)
    expect([again.stored.length, new Set(again.existing.map(String)).size]).toEqual([0, 1000])
  })

  test('by many at once that store the same keys in other orders', async () => {
    const { enqueue } = stage.shop.claims
    const calls = Array.from({ length: 40 }, (_, index) =>
      enqueue(
        table.jobs,
        [0, 1, 2].map((step) => ({ k: `k${(index + step) % 4}` })),
      ),
    )
    const done = await Promise.all(calls)
    expect(done.flatMap(({ stored }) => stored)).toHaveLength(4)
    for (const { stored, existing } of done) expect(stored.length + existing.length).toBe(3)
    expect(await table.keys()).toEqual(['k0', 'k1', 'k2', 'k3'])
  })
}
