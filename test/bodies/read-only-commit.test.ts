import { afterEach, expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
import { caught } from '../entries/stage.ts'
import { describeClients } from './client.ts'

describeClients((scene) => {
  let proxy: CuttingProxy | undefined
  afterEach(() => proxy?.close())

  test('a transaction that only reads is run again when the answer to its COMMIT is lost', async () => {
    proxy = await startCuttingProxy(scene.engine.server.url)
    const client = scene.connect(1, proxy.url)
    await client.locks.transaction((tx) => client.query(tx, 'select 1'))
    void proxy.cutAt('COMMIT', 'after')
    const reading = client.locks.transaction((tx) => client.query(tx, 'select n from item'), {
      access: 'read-only',
    })
    expect((await reading).map(({ n }) => Number(n))).toEqual([0, 0])
  })

  test('one that has no attempt left ends with the error that says to run it again', async () => {
    proxy = await startCuttingProxy(scene.engine.server.url)
    const client = scene.connect(1, proxy.url)
    await client.locks.transaction((tx) => client.query(tx, 'select 1'))
    void proxy.cutAt('COMMIT', 'after')
    const reading = client.locks.transaction((tx) => client.query(tx, 'select n from item'), {
      access: 'read-only',
      attempts: 1,
    })
    const said = await caught(reading)
    expect(said).toBeInstanceOf(RetryableTransactionError)
    expect(said).toMatchObject({ kind: 'connection-lost', cause: expect.any(Error) })
  })
})
