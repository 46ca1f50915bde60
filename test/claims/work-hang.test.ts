import { describe, expect, test } from 'vitest'

import { LockLostError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { until } from '../engines/use.ts'
import { jobs } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

// in a file of its own: nothing else of the process goes on meanwhile
describe('a worker', () => {
  describeQueues(specs)
})

function specs(stage: QueueStage): void {
  const state = async (): Promise<string | undefined> => (await stage.table.all())[0]?.state

  test('does not trust a job whose time went by while nothing could run, and claims it again', async () => {
    await stage.table.add([{ id: 1 }])
    const stop = new AbortController()
    const late: unknown[] = []
    const working = stage.shop.claims.work(
      jobs,
      async (job) => {
        if (job.attempts === 2) return
        const end = performance.now() + 4500
        while (performance.now() < end); // the whole process hangs
        await until(() => job.signal.aborted, 'the signal')
        late.push(await caught(job.complete()))
      },
      { visibilityMs: 4000, signal: stop.signal, idleMs: 50, onError: () => {} },
    )
    await until(async () => (await state()) === 'done' && late.length === 1, 'the job done, and the one told')
    stop.abort()
    expect(await working).toEqual({ done: 1, failed: 0, lost: 1, released: 0 })
    expect(late[0]).toBeInstanceOf(LockLostError)
  })
}
