import { describe, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { jobs } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

// side by side: a worker looks for dead jobs only once in a while
describe.concurrent('a worker', () => {
  describeQueues(specs)
})

function specs(stage: QueueStage): void {
  const state = async (): Promise<string | undefined> => (await stage.table.all())[0]?.state

  test('gives back the job of a handler that throws, and puts it aside in the end', async () => {
    await stage.table.add([{ id: 1 }])
    const stop = new AbortController()
    const errors: unknown[] = []
    const working = stage.shop.claims.work(
      { ...jobs, visibilityMs: 20_000 },
      ({ attempts }) => {
        throw new Error(`attempt ${attempts} failed`)
      },
      {
        signal: stop.signal,
        idleMs: 20,
        backoff: { baseMs: 1, capMs: 1 },
        onError: (error, job) => errors.push([String(error), Number(job?.id)]),
      },
    )
    await until(async () => (await state()) === 'dead', 'a dead job')
    stop.abort()
    expect(await working).toEqual({ done: 0, failed: 3, lost: 0, released: 0 })
    expect(errors).toEqual([1, 2, 3].map((n) => [`Error: attempt ${n} failed`, 1]))
  })
}
