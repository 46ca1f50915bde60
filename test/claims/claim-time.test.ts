import { describe, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { jobs } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

// side by side: each of them waits for the end of a claim
describe.concurrent('the time of a claim', () => {
  describeQueues(specs)

  describe('on a server that cannot skip locked rows', () => {
    describeQueues(specs, { only: ['mysql'], version: '5.7.44' })
    describeQueues(specs, { only: ['mariadb'], version: '10.5.29' })
  })

  describe('through Kysely', () => {
    describeQueues(specs, { only: ['postgres'], adapter: 'kysely over pg' })
    describeQueues(specs, { only: ['mysql', 'mariadb'], adapter: 'kysely over mysql2' })
    describeQueues(specs, { only: ['sqlite'], adapter: 'kysely over better-sqlite3' })
  })
})

function specs(stage: QueueStage): void {
  test("is counted by the server's clock, and ends by itself", async () => {
    await stage.table.add([{ id: 1 }])
    await stage.shop.claims.claim(jobs, { visibilityMs: 4000 })
    expect(await stage.shop.claims.claim(jobs)).toEqual([])
    await until(async () => (await stage.shop.claims.claim(jobs)).length === 1, 'the job again')
  })
}
