import { describe, expect, test } from 'vitest'

import type { Enqueued } from '../../src/locks/queue/enqueue.ts'
import { caught } from '../entries/stage.ts'
import { newJobTable, type NewJobQueue } from './new-job-stage.ts'
import { describeQueues, type QueueStage } from './stage.ts'

describe('the columns of new jobs', () => {
  describeQueues(specs)

  describe('where the id is a field of its own', () => {
    describeQueues(ownIdSpecs, { only: ['mongodb'] })
  })
})

function specs(stage: QueueStage): void {
  const table = newJobTable(stage, 'column_job')
  const enqueue = (jobs: unknown, queue: NewJobQueue = table.jobs): Promise<Enqueued> =>
    stage.shop.claims.enqueue(queue, jobs as never)

  test('are such that a claim finds the job', async () => {
    const numbered = table.described({ where: { attempts: 1 } })
    await enqueue({ k: 'text for a number', attempts: '1' }, numbered)
    expect(await stage.shop.claims.claim(numbered)).toHaveLength(1)
    const empty = table.described({ where: { kind: null } })
    await enqueue({ k: 'a column with a default' }, empty)
    expect(await stage.shop.claims.claim(empty)).toHaveLength(1)
  })

  test('leave the job an attempt', async () => {
    const claim = { token: 'token', until: 'until', unique: 'k', attempts: 'attempts' }
    const mortal = table.described({ claim, dead: { afterAttempts: 2, set: { state: 'dead' } } })
    expect(String(await caught(enqueue({ k: 'x', attempts: 2 }, mortal)))).toMatch(/nobody would claim it/)
    await enqueue({ k: 'x', attempts: 1 }, mortal)
    expect(await stage.shop.claims.claim(mortal)).toHaveLength(1)
  })

  test('are those at the time of the call', async () => {
    const job = { k: '' }
    const calls = ['a', 'b', 'c'].map((k) => {
      job.k = k
      return enqueue(job)
    })
    await Promise.all(calls)
    expect(await table.keys()).toEqual(['a', 'b', 'c'])
  })

  test.each([
    ['a promise', Promise.resolve({ k: 'x' })],
    ['a set', new Set([{ k: 'x' }])],
    ['a map', new Map([['k', 'x']])],
    ['a list in a list', [[{ k: 'x' }]]],
  ])('are not those of %s', async (_, job) => {
    expect(String(await caught(enqueue(job)))).toContain('is not a job')
    expect(await table.all()).toEqual([])
  })

  test('are named when the table has no such column', async () => {
    if (stage.name === 'mongodb') return void (await enqueue({ k: 'x', wieght: 1 })) // it has no columns
    const error = await caught(enqueue({ k: 'x', wieght: 1 }))
    expect(String(error)).toMatch(/must have the columns .*\bwieght, of types that fit/)
  })

  test('are not objects where the database has none: the error says what to pass', async () => {
    if (stage.name === 'mongodb') return void (await enqueue({ k: 'x', kind: { a: 1 } }))
    expect(String(await caught(enqueue({ k: 'x', kind: { a: 1 } })))).toMatch(/job\.kind: .*JSON\.stringify/)
  })

  test('may be those of an object without a prototype', async () => {
    expect((await enqueue(Object.assign(Object.create(null) as object, { k: 'x' }))).stored).toHaveLength(1)
  })
}

function ownIdSpecs(stage: QueueStage): void {
  const table = newJobTable(stage, 'own_id_job')
  const jobs = table.described({ id: 'number', orderBy: 'number' })
  const enqueue = (list: unknown): Promise<Enqueued> => stage.shop.claims.enqueue(jobs, list as never)

  test('the ids are told', async () => {
    expect(await enqueue({ number: 1, k: 'a' })).toEqual({ stored: [1], existing: [] })
    const more = [4, 5, 6].map((number) => ({ number, k: number === 4 ? 'a' : `k${number}` }))
    expect(await enqueue(more)).toEqual({ stored: [5, 6], existing: [1] })
    expect(await enqueue([{ number: 7 }, { number: 8 }])).toEqual({ stored: [7, 8], existing: [] })
  })

  test('a job without one could never be ended, and is refused', async () => {
    expect(String(await caught(enqueue({ k: 'a' })))).toMatch(/job\.number: is missing/)
    expect(await table.all()).toEqual([])
  })
}
