import { describe, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { jobs } from './job-table.ts'
import { describeAllQueues, type QueueStage } from './stage.ts'

// side by side: each of them waits for the end of a claim
describe.concurrent('the time of a claim', () => {
  describeAllQueues(specs)
})

function specs(stage: QueueStage): void {
  test("is counted by the server's clock, and ends by itself", async () => {
    await stage.table.add([{ id: 1 }])
    await stage.shop.claims.claim(jobs, { visibilityMs: 4000 })
    expect(await stage.shop.claims.claim(jobs)).toEqual([])
    await until(async () => (await stage.shop.claims.claim(jobs)).length === 1, 'the job again')
  })
}
