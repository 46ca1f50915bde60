import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { onTestFinished, expect, test } from 'vitest'

import { createLeases } from '../../src/entries/redis.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { ioredis } from './redis-clients.ts'

const server = useExtraServer(() => startRedis())

/** Between a client and its server. Once it was told to, it ends the connection in place of the next answer to a script. */
async function passOn(port: number): Promise<{ readonly url: string; readonly loseNext: () => void }> {
  let isLosing = false
  const between = createServer((client) => {
    const behind = connect(port, '127.0.0.1')
    let isLost = false
    const end = (): void => void [client.destroy(), behind.destroy()]
    for (const socket of [client, behind]) socket.on('error', end).on('close', end)
    client.on('data', (data) => {
      isLost = isLosing && /evalsha/i.test(data.toString())
      if (isLost) isLosing = false
      behind.write(data)
    })
    behind.on('data', (data) => (isLost ? end() : client.write(data)))
  })
  await once(between.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void between.close())
  const { port: own } = between.address() as AddressInfo
  return { url: `redis://127.0.0.1:${own}`, loseNext: () => (isLosing = true) }
}

test('a claim that the client sends again is the same claim: its lease is granted, and not held by nobody', async ({
  skip,
}) => {
  const { url } = server(skip).server
  const { url: between, loseNext } = await passOn(Number(new URL(url).port))
  const { client, close } = await ioredis.open(between)
  onTestFinished(close)
  const leases = createLeases(client)
  await (await leases.lease(randomUUID())).release() // the server knows the scripts
  const key = randomUUID()
  loseNext()
  const lease = await leases.lease(key, { wait: 'nowait', ttlMs: 600_000 })
  expect(await leases.inspect({ keys: [key] })).toMatchObject([{ owner: lease.owner, fence: lease.fence }])
  await lease.release()
  const next = await leases.lease(key, { wait: 'nowait' })
  expect(next.fence).toBeGreaterThan(lease.fence)
  await next.release()
})
