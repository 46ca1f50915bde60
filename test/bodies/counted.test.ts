import { expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, jobs } from './client.ts'

describeClients((scene) => {
  const stale = { table: 'item', key: { id: 1 }, version: 'n', expected: 99, set: {} }

  test('a stale version is a conflict, also beside a statement that changes a row', async () => {
    const client = scene.connect(1)
    const call = client.locks.transaction(
      (tx) =>
        Promise.all([
          client.locks.updateVersioned(tx, stale),
          client.query(tx, 'update item set id = id + 10 where id = 2'),
        ]),
      { attempts: 1 },
    )
    expect(await caught(call)).toBeInstanceOf(RetryableTransactionError)
  })

  test('a job that another has claimed since is not completed, also beside such a statement', async () => {
    const client = scene.connect(1)
    const [job] = await client.locks.claim(jobs)
    await client.query(undefined, "update job set token = 'of another'")
    const call = client.locks.transaction((tx) =>
      Promise.all([job?.complete({ tx }), client.query(tx, 'update item set id = id + 10 where id = 2')]),
    )
    expect(await caught(call)).toMatchObject({ name: 'LockLostError' })
  })
})
