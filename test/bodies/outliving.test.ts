import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeClients, type Client } from './client.ts'

const versioned = { table: 'item', key: { id: 2 }, version: 'n' }
const change = 'update item set n = n + 1 where id = 2'

describeClients((scene) => {
  const counted = async (client: Client): Promise<unknown> =>
    (await client.query(undefined, 'select n from item where id = 2'))[0]?.n

  test('a call of locks that outlives its body writes nothing, nor into the next transaction of its connection', async () => {
    const client = scene.connect(1)
    const before = await counted(client)
    const [isDeciding, mayGoOn] = [gate(), gate()]
    const decide = async (): Promise<Record<string, never>> => {
      isDeciding.open()
      await mayGoOn.opened
      return {}
    }
    let outliving: Promise<unknown> = Promise.resolve()
    const failing = client.locks.transaction(async () => {
      outliving = caught(client.locks.withVersion(versioned, decide, { nested: 'join' }))
      await isDeciding.opened
      throw new Error('mine')
    })
    await expect(failing).rejects.toThrow('mine')
    await client.locks.transaction(async (tx) => {
      await client.query(tx, 'select 1')
      mayGoOn.open()
      expect(await outliving).toBeInstanceOf(LockUsageError)
    })
    expect(await counted(client)).toBe(before)
  })

  test('a call that fails while COMMIT waits for another fails the transaction', async () => {
    const client = scene.connect(1)
    const before = await counted(client)
    const mistake = new Error('a mistake')
    const hasFailed = gate()
    const call = client.locks.transaction(async (tx) => {
      void client.locks.transaction(() => hasFailed.opened, { nested: 'join' })
      const second = async (): Promise<void> => {
        await client.query(tx, change)
        throw mistake
      }
      void caught(client.locks.transaction(second, { nested: 'join' })).then(hasFailed.open)
    })
    expect(await caught(call)).toMatchObject({ name: 'LockUsageError', cause: mistake })
    expect(await counted(client)).toBe(before)
  })
})

describeClients(
  (scene) => {
    test('several statements that end nothing leave no doubt about an error behind them', async () => {
      const client = scene.connect(1)
      let runs = 0
      const call = client.locks.transaction(async (tx) => {
        runs += 1
        await client.query(tx, 'select 1; select 2')
        await caught(client.query(tx, 'select 1/0'))
      })
      expect(await caught(call)).toBeInstanceOf(LockUsageError)
      expect(runs).toBe(1)
    })
  },
  ['postgres'],
)
