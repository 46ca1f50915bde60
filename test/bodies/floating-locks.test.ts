import { expect, test } from 'vitest'

import { LockError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeClients } from './client.ts'

describeClients((scene) => {
  test('locks that the work does not wait for are taken before COMMIT, and a refusal of one fails the transaction', async () => {
    const [client, rival] = [scene.connect(1), scene.connect(1)]
    await rival.locks.transaction(async (held) => {
      await rival.lockItem(held, 1)
      const call = client.locks.transaction(async (tx) => {
        // the second waits for its turn behind the first
        void caught(client.lockItem(tx, 2))
        void caught(client.lockItem(tx, 1, { wait: 'nowait' }))
      })
      expect(await caught(call)).toBeInstanceOf(LockError)
    })
    await client.locks.transaction((tx) => client.lockItem(tx, 1, { wait: 'nowait' }))
  })
})
