import { randomUUID } from 'node:crypto'
import { describe, test } from 'vitest'

import { meetCoordinator, type Coordinator } from '../../src/coordinator.ts'
import type { CoordinatorCommands } from '../../src/coordinators/commands.ts'
import { errors } from '../../src/coordinators/redis/errors.ts'
import { leaseCommands } from '../../src/coordinators/redis/lease.ts'
import { sessions } from '../../src/coordinators/redis/sessions.ts'
import { createLeases, type RedisClient } from '../../src/entries/redis.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { coordinatorLaws, obey, permitLaws, sabotaged, type LawGround } from './laws.ts'
import { nodeRedis, redisWays, type RedisWay } from './redis-clients.ts'

const server = useExtraServer(() => startRedis())

type Joining = (client: RedisClient) => Coordinator

function groundOn(url: string, way: RedisWay, joining: Joining = createLeases): LawGround {
  const sendOnce = async (...words: [string, ...string[]]): Promise<unknown> => {
    const { send, close } = await way.open(url)
    return send(...words).finally(close)
  }
  return {
    join: async () => {
      const { client, close } = await way.open(url)
      return { coordinator: joining(client), close }
    },
    briefMs: 300,
    areOwnersRemoved: false,
    remove: (name) => sendOnce('DEL', `holdfast:lease:${name}`),
    isOwned: async (name) => {
      const key = `holdfast:lease:${name.replace(/[a-z2-7]{32}$/, '{$&}')}`
      return ((await sendOnce('HGET', key, 'owner')) ?? '') !== ''
    },
  }
}

describe.concurrent.each(redisWays)('through $title', (way) => {
  test.for(coordinatorLaws)('$id: $says', async (law, { skip }) => {
    await obey(law, groundOn(server(skip).server.url, way))
  })
})

describe.each(redisWays)('semaphores through $title', (way) => {
  test.for(permitLaws)('$id: $says', async (law, { skip }) => {
    await obey(law, groundOn(server(skip).server.url, way))
  })
})

describe('on Valkey', () => {
  const valkey = useExtraServer(() => startRedis('valkey'))

  test.concurrent.for(coordinatorLaws)('$id: $says', async (law, { skip }) => {
    await obey(law, groundOn(valkey(skip).server.url, nodeRedis))
  })

  test.for(permitLaws)('$id: $says', async (law, { skip }) => {
    await obey(law, groundOn(valkey(skip).server.url, nodeRedis))
  })
})

/** Commands that are wrong in one way, and the laws that notice. */
const defects: readonly { does: string; breaks: readonly string[]; commands: () => CoordinatorCommands }[] = [
  {
    does: 'gives every request a key of its own',
    breaks: ['L1', 'L4', 'L12'],
    commands: () => {
      const real = leaseCommands('holdfast:')
      return { ...real, acquire: (claim) => real.acquire({ ...claim, name: randomUUID() }) }
    },
  },
  {
    does: 'keeps a lease a day longer',
    breaks: ['L6', 'L15'],
    commands: () => {
      const real = leaseCommands('holdfast:')
      return { ...real, acquire: (claim) => real.acquire({ ...claim, ttlMs: claim.ttlMs + 86_400_000 }) }
    },
  },
  {
    does: 'says that it renews, and does not',
    breaks: ['L7'],
    commands: () => {
      const real = leaseCommands('holdfast:')
      return { ...real, renew: ({ name }) => [real.holder(name)] }
    },
  },
]

describe.concurrent.each(defects)('a client that $does', ({ breaks, commands }) => {
  const broken = coordinatorLaws.filter(({ id }) => breaks.includes(id))
  test.for(broken)('breaks $id', async (law, { skip, expect }) => {
    const { url } = server(skip).server
    const joining: Joining = (client) =>
      meetCoordinator({ name: 'redis', errors, lease: commands() }, sessions(client, 'holdfast:'))
    await expect(obey(law, groundOn(url, nodeRedis, joining))).rejects.toThrow()
  })
})

describe.each(permitLaws)('a client that $control.does', (law) => {
  test(`breaks ${law.id}`, async ({ skip, expect }) => {
    const { url } = server(skip).server
    const dialect = { name: 'redis', errors, lease: leaseCommands('holdfast:') }
    const joining: Joining = (client) => sabotaged(law.control, dialect, sessions(client, 'holdfast:'))
    await expect(obey(law, groundOn(url, nodeRedis, joining))).rejects.toThrow()
  })
})
