import { describe, expect, test } from 'vitest'

import type { Coordinator } from '../../src/coordinator.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { createLeases as onEtcd } from '../../src/entries/etcd.ts'
import { createLeases as onRedis, type NodeRedisClient } from '../../src/entries/redis.ts'
import { caught } from '../entries/stage.ts'

/** Nothing is sent: what is refused here is refused at the door. */
const nobody = new Proxy({} as NodeRedisClient, {
  has: (_, name) => name !== 'evalsha',
  get: () => () => Promise.reject(new Error('this was to be refused at the door')),
})

const coordinators: Readonly<Record<string, Coordinator>> = {
  Redis: onRedis(nobody),
  etcd: onEtcd({ endpoints: ['http://127.0.0.1:1'] }),
}

describe.each(Object.entries(coordinators))('on %s', (_, leases) => {
  test.for(['shared', 'exclusive', undefined])(
    'the mode %s is refused, and what to use is said',
    async (mode) => {
      const options = { mode, wait: 'nowait' } as object
      for (const asked of [leases.lease('k', options), leases.withLease('k', async () => 'done', options)]) {
        const error = await caught(asked)
        expect(error).toBeInstanceOf(LockUsageError)
        expect(error).toMatchObject({
          field: 'mode',
          message: /one holder at a time.*semaphore\(key.*sharedLock\(key/,
        })
      }
      expect(() => leases.semaphore('k', { permits: 2, ...options })).toThrow(LockUsageError)
    },
  )

  test.for([null, 5, 'shared'])('options that are none are refused: %j', async (options) => {
    expect(await caught(leases.lease('k', options as never))).toBeInstanceOf(LockUsageError)
  })
})
