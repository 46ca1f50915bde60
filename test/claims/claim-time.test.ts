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
    const { claim } = stage.shop.claims
    // one whose time is longer than this test may take, and one whose time is over soon
    await stage.table.add([{ id: 1 }])
    await claim(jobs, { visibilityMs: 3_600_000 })
    expect(await claim(jobs)).toEqual([])
    await stage.table.add([{ id: 2 }])
    await claim(jobs, { visibilityMs: 500 })
    let again: readonly { readonly id: unknown }[] = []
    await until(async () => (again = await claim(jobs)).length > 0, 'the job again')
    expect(again.map(({ id }) => Number(id))).toEqual([2])
  })
}
