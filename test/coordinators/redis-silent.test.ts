import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import { createLeases } from '../../src/entries/redis.ts'
import { caught } from '../entries/stage.ts'

test('a server that says nothing is no holder: whoever does not wait is told so, and so is a job that runs nowhere', async (task) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const client = new Redis((silent.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  task.onTestFinished(() => {
    client.disconnect()
    silent.close()
  })
  const leases = createLeases(client)
  const error = await caught(leases.lease('job', { wait: 'nowait' }))
  expect(error).toBeInstanceOf(LockNotAvailableError)
  expect(String(error)).toMatch(/not acquired: no answer in \d+ ms/)

  const stop = new AbortController()
  const told: unknown[] = []
  const onError = (failure: unknown): void => {
    told.push(failure)
    stop.abort()
  }
  await leases.singleton('job', async () => {}, { everyMs: 1000, signal: stop.signal, onError })
  expect(String(told[0])).toMatch(/no answer in/)
})
