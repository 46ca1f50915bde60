import { describe, expect, test } from 'vitest'

import { gate } from '../entries/stage.ts'
import { jobs } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

/** What happens when the next answer is there, before it is told to whoever waits for it. */
let beforeNext: (() => Promise<void>) | undefined

async function onAnswer(): Promise<void> {
  const happens = beforeNext
  beforeNext = undefined
  await happens?.()
}

describe('a job that its handler ends while the worker gives it back', () => {
  // those that make the release wait for the transaction that ends the job
  describeQueues(specs, { only: ['postgres', 'mysql', 'mariadb'], onAnswer })
})

function specs(stage: QueueStage): void {
  test('is done, and not lost', async () => {
    await stage.table.add([{ id: 1 }])
    const stop = new AbortController()
    const answer = gate()
    const errors: unknown[] = []
    const report = await stage.shop.claims.work(
      jobs,
      (job) =>
        stage.shop.transaction(async (tx, run) => {
          await run({ sql: 'select 1 as n', params: [] })
          beforeNext = () => {
            stop.abort()
            return answer.opened
          }
          await job.complete({ tx })
        }),
      {
        signal: stop.signal,
        shutdownMs: 1,
        idleMs: 50,
        // the worker has stopped, and gives the job back now
        onError: (error) => {
          errors.push(error)
          answer.open()
        },
      },
    )
    expect(report).toEqual({ done: 1, failed: 0, lost: 0, released: 0 })
    expect((await stage.table.all()).map(({ state }) => state)).toEqual(['done'])
    expect(errors).toEqual([expect.objectContaining({ message: 'the worker has stopped' })])
  })
}
