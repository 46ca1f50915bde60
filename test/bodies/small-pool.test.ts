import { afterEach, expect, test } from 'vitest'

import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
import { describeClients, type Client } from './client.ts'

describeClients((scene) => {
  let proxy: CuttingProxy | undefined
  afterEach(() => proxy?.close())

  /** A pool on which the server is known, and every connection is about to lose the answer to its COMMIT. */
  const losing = async (size: number): Promise<Client> => {
    proxy = await startCuttingProxy(scene.engine.server.url)
    const client = scene.connect(size, proxy.url)
    await client.locks.transaction((tx) => client.query(tx, 'select 1'))
    void proxy.cutAt('COMMIT', 'after', size)
    return client
  }
  /** How the work is found to be stored where the server cannot tell: on the same pool. */
  const findsOut = (client: Client, id: number) => async (): Promise<boolean> =>
    (await client.query(undefined, `select n from item where id = ${id}`)).some(({ n }) => Number(n) === 1)

  for (const size of [1, 2]) {
    test(`a pool of ${size} that loses ${size} answers to COMMIT at once finds out what is stored`, async () => {
      const client = await losing(size)
      const increments = Array.from({ length: size }, (_, index) =>
        client.locks.transaction(
          (tx) => client.query(tx, `update item set n = n + 1 where id = ${index + 1}`),
          { verifyCommit: findsOut(client, index + 1) },
        ),
      )
      await Promise.all(increments)
      const rows = await client.query(undefined, `select n from item where id <= ${size}`)
      expect(rows.map(({ n }) => Number(n))).toEqual(Array.from({ length: size }, () => 1))
    })
  }
})
