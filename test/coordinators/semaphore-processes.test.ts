import { createClient } from 'redis'
import { afterEach, describe } from 'vitest'

import { createLeases as onEtcd } from '../../src/entries/etcd.ts'
import { createLeases as onRedis } from '../../src/entries/redis.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { contention } from '../semaphores/contention.ts'
import { endpointsOf } from './etcd-keys.ts'

describe('thirty-two contenders in four processes, on Redis', () => {
  const server = useExtraServer(() => startRedis())
  const opened: { readonly close: () => Promise<unknown> }[] = []
  afterEach(async () => void (await Promise.all(opened.splice(0).map((client) => client.close()))))

  contention(async (skip) => {
    const { url } = server(skip).server
    const client = createClient({ url })
    opened.push(client)
    await client.connect()
    return { engine: 'redis', url, locks: onRedis(client) }
  })
})

describe('thirty-two contenders in four processes, on etcd with three members', () => {
  const server = useExtraServer(() => startEtcd(3))

  contention((skip) => {
    const endpoints = endpointsOf(server(skip))
    return { engine: 'etcd', url: endpoints.join(','), locks: onEtcd({ endpoints }) }
  })
})
