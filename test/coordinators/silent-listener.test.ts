import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'

import { createGateway } from '../../src/coordinators/etcd/gateway.ts'
import { listenIn } from '../../src/coordinators/etcd/listen.ts'
import { listenOn } from '../../src/coordinators/redis/listen.ts'
import { LockTimeoutError } from '../../src/core/errors.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'

/** A server that takes every connection and says nothing, and those that are open. */
async function silence(): Promise<{ readonly address: string; readonly open: Set<Socket> }> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket.resume())
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, open }
}

const listeners = {
  ioredis: (address: string) => listenOn(new Redis(`redis://${address}`, { lazyConnect: true })),
  redis: (address: string) => listenOn(createClient({ url: `redis://${address}` })),
  etcd: (address: string) =>
    listenIn(createGateway({ endpoints: [`http://${address}`], auth: undefined, fetch })),
}

test.concurrent.for(Object.entries(listeners))(
  '%s: a listener that cannot begin leaves no connection that keeps the process alive',
  async ([, listenerOf]) => {
    const { address, open } = await silence()
    const listening = caught(listenerOf(address)('leases', () => {}))
    await until(() => open.size > 0, 'a connection')
    expect(await listening).toBeInstanceOf(LockTimeoutError)
    await until(() => open.size === 0, 'no connection')
  },
)
