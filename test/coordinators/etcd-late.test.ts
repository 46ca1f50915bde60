import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import { createLeases, type EtcdFetch } from '../../src/entries/etcd.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { caught } from '../entries/stage.ts'
import { endpointsOf } from './etcd-keys.ts'

const shared = useExtraServer(() => startEtcd())

test('a lease that comes back to the time that it had is not ended by a revocation that arrives late', async ({
  skip,
}) => {
  const endpoints = endpointsOf(shared(skip))
  const late: (() => Promise<unknown>)[] = []
  const holding: EtcdFetch = async (url, init) => {
    if (!url.endsWith('/v3/lease/revoke')) return fetch(url, init)
    late.push(() => fetch(url, { ...init, signal: null }))
    throw new Error('the answer is lost')
  }
  const key = randomUUID()
  const lease = await createLeases({ endpoints, fetch: holding }).lease(key, {
    ttlMs: 300_000,
    renew: false,
  })
  await lease.extend(600_000)
  await lease.extend(300_000)
  for (const arrive of late) await arrive()
  const other = createLeases({ endpoints })
  expect(await caught(other.lease(key, { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
  await lease.extend()
  await lease.release()
})
