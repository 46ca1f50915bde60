import { afterEach, expect, test } from 'vitest'

import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
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
})
