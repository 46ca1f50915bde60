import { expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { sql } from '../../src/dialects/sql.ts'
import { caught, gate } from '../entries/stage.ts'
import { jobs } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

// elsewhere a claim is not kept waiting by whoever writes something else
describeQueues(specs, { only: ['sqlite'] })

function specs(stage: QueueStage): void {
  const late = {
    name: 'LockTimeoutError',
    message: expect.stringMatching(/^jobs of the queue "job" not acquired within 200 ms \(visibilityMs\)/),
    table: 'job',
    timeoutMs: 200,
    dialect: 'sqlite',
  }

  test('a claim does not wait longer than it would last for a database that another process writes to', async () => {
    await stage.table.add([{ id: 1 }])
    const other = await stage.engine.open()
    await other.run(sql('BEGIN IMMEDIATE'))
    const refused = await caught(stage.shop.claims.claim(jobs, { visibilityMs: 200 }))
    await other.run(sql('ROLLBACK'))
    await other.close()
    expect(refused).toBeInstanceOf(LockTimeoutError)
    expect(refused).toMatchObject({ ...late, cause: { kind: 'busy', cause: { code: 'SQLITE_BUSY' } } })
    const [job] = await stage.shop.claims.claim(jobs, { visibilityMs: 20_000 })
    expect(job).toMatchObject({ id: 1, attempts: 1 })
  })

  test('nor for a transaction of its own process', async () => {
    await stage.table.add([{ id: 1 }])
    const [isOpen, mayEnd] = [gate(), gate()]
    const writing = stage.shop.transaction(async () => {
      isOpen.open()
      await mayEnd.opened
    })
    await isOpen.opened
    const refused = await caught(stage.shop.claims.claim(jobs, { visibilityMs: 200 }))
    mayEnd.open()
    await writing
    expect(refused).toBeInstanceOf(LockTimeoutError)
    expect(refused).toMatchObject(late)
  })
}
