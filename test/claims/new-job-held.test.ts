import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import type { Statement } from '../../src/core/statement.ts'
import { caught } from '../entries/stage.ts'
import { newJobTable } from './new-job-stage.ts'
import { describeQueues, type QueueStage } from './stage.ts'
import { openWorkshop, type Workshop } from './workshop.ts'

describe('a job that is there when it is to be stored', () => {
  // only one can write to SQLite
  describeQueues(specs, { only: ['postgres', 'mysql', 'mariadb', 'duckdb', 'mongodb'] })
})

/** Where nobody waits for a row, whoever changes it in a transaction is refused at once. */
const claimsByHand: Readonly<Record<string, Statement>> = {
  duckdb: { sql: `UPDATE held_job SET token = 'mine' WHERE k = 'x' RETURNING id`, params: [] },
  mongodb: { command: { update: 'held_job', updates: [{ q: { k: 'x' }, u: { $set: { token: 'mine' } } }] } },
}

function specs(stage: QueueStage): void {
  const table = newJobTable(stage, 'held_job')
  let rival: Workshop
  beforeAll(async () => void (rival = await openWorkshop(stage.name, stage.engine.server.url)))
  afterAll(() => rival.close())

  test.each([
    ['alone', { k: 'x' }],
    ['with others', [{ k: 'x' }, { k: 'y' }]],
  ])('is claimed by nobody before the transaction ends: %s', async (_, jobs) => {
    await stage.shop.claims.enqueue(table.jobs, { k: 'x' })
    await stage.shop.transaction(async (tx) => {
      expect((await stage.shop.claims.enqueue(table.jobs, jobs, { tx })).existing).toHaveLength(1)
      const byHand = claimsByHand[stage.name]
      if (byHand === undefined) expect(await rival.claims.claim(table.jobs)).toEqual([])
      else {
        const refused = await caught(rival.transaction((_tx, run) => run(byHand)))
        expect(refused).toBeInstanceOf(RetryableTransactionError)
      }
    })
    const [job] = await rival.claims.claim(table.jobs)
    expect(job).toBeDefined()
  })

  test('is stored anew if it was claimed since the transaction has begun', async () => {
    await stage.shop.claims.enqueue(table.jobs, [{ k: 'x' }, { k: 'y' }])
    let attempts = 0
    const look: Statement = stage.isDocuments
      ? { command: { find: 'held_job' } }
      : { sql: 'SELECT * FROM held_job', params: [] }
    const { stored } = await stage.shop.transaction(async (tx, run) => {
      attempts += 1
      await run(look) // from here on it sees what there is now
      if (attempts === 1) await rival.claims.claim(table.jobs, { limit: 2 })
      return stage.shop.claims.enqueue(table.jobs, [{ k: 'x' }, { k: 'y' }], { tx })
    })
    expect(stored).toHaveLength(2)
    expect(await table.all()).toHaveLength(4)
  })
}
