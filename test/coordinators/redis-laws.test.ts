import { randomUUID } from 'node:crypto'
import { describe, test } from 'vitest'

import { meetCoordinator } from '../../src/coordinator.ts'
import type { CoordinatorCommands } from '../../src/coordinators/commands.ts'
import { errors } from '../../src/coordinators/redis/errors.ts'
import { leaseCommands } from '../../src/coordinators/redis/lease.ts'
import { sessions } from '../../src/coordinators/redis/sessions.ts'
import { createLeases } from '../../src/entries/redis.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { coordinatorLaws, obey, type LawGround } from './laws.ts'
import { nodeRedis, redisWays, type RedisWay } from './redis-clients.ts'

const server = useExtraServer(() => startRedis())

function groundOn(url: string, way: RedisWay, commands?: () => CoordinatorCommands): LawGround {
  return {
    join: async () => {
      const { client, close } = await way.open(url)
      const coordinator =
        commands === undefined
          ? createLeases(client)
          : meetCoordinator({ name: 'redis', errors, lease: commands() }, sessions(client, 'holdfast:'))
      return { coordinator, close }
    },
    remove: async (name) => {
      const { send, close } = await way.open(url)
      await send('DEL', `holdfast:lease:${name}`)
      await close()
    },
  }
}

describe.concurrent.each(redisWays)('through $title', (way) => {
  test.for(coordinatorLaws)('$id: $says', async (law, { skip }) => {
    await obey(law, groundOn(server(skip).server.url, way))
  })
})

describe.concurrent('on Valkey', () => {
  const valkey = useExtraServer(() => startRedis('valkey'))

  test.for(coordinatorLaws)('$id: $says', async (law, { skip }) => {
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
    await expect(obey(law, groundOn(url, nodeRedis, commands))).rejects.toThrow()
  })
})
