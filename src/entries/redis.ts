import { mustHave } from '../adapters/must-have.ts'
import { meetCoordinator, type Coordinator } from '../coordinator.ts'
import type { RedisClient } from '../coordinators/redis/client.ts'
import { errors } from '../coordinators/redis/errors.ts'
import { leaseCommands } from '../coordinators/redis/lease.ts'
import { sessions } from '../coordinators/redis/sessions.ts'
import { onlyKnown, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'

export type {
  IoredisClient,
  IoredisListener,
  NodeRedisClient,
  NodeRedisListener,
  NodeRedisScriptOptions,
  RedisClient,
} from '../coordinators/redis/client.ts'
export type { Coordinator, LeaseInspectOptions } from '../coordinator.ts'
export type * from '../result-types.ts'

/** How leases are kept on a Redis. */
export interface RedisLeasesOptions {
  /** What the names of its keys and of its channel begin with. All who share leases need the same. @default 'holdfast:' */
  readonly prefix?: string
}

/**
 * Leases on a Redis or Valkey server or cluster, through a client of `ioredis` or of `redis`.
 *
 * A Redis that fails over can lose a lease that it has granted, so write under a lease with its `fence`. One that evicts
 * keys at will is refused.
 */
export function createLeases(client: RedisClient, options: RedisLeasesOptions = {}): Coordinator {
  onlyKnown(options, ['prefix'])
  const { prefix = 'holdfast:' } = options
  if (typeof prefix !== 'string') throw new LockUsageError('prefix', `${show(prefix)} is not a text`)
  mustHave(client, {
    field: 'client',
    methods: ['eval', 'duplicate'],
    pass: 'a client of ioredis, or one of redis from 5 on',
  })
  return meetCoordinator({ name: 'redis', errors, lease: leaseCommands(prefix) }, sessions(client, prefix))
}
