import { afterEach, beforeEach, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, jobs } from './client.ts'

describeClients((scene) => {
  const warnings: string[] = []
  const note = (warning: Error): void => void warnings.push(warning.message)
  beforeEach(() => void process.on('warning', note))
  afterEach(() => void process.off('warning', note))

  test('a worker stops at its signal while the pool gives no connection', async () => {
    const client = scene.connect(1)
    const stop = new AbortController()
    const failures: unknown[] = []
    await client.locks.transaction(async (tx) => {
      await client.query(tx, 'select 1')
      const working = client.locks.work(jobs, async () => {}, {
        signal: stop.signal,
        onError: (error) => void failures.push(error),
      })
      setImmediate(() => stop.abort())
      expect(await working).toEqual({ done: 0, failed: 0, lost: 0, released: 0 })
    })
    expect(failures).toEqual([])
  })

  test('whoever waits for a connection that the caller keeps is warned, and told of the pool', async () => {
    const client = scene.connect(1)
    const held = await client.locks.acquire('kept by the caller').catch(() => undefined)
    // a pool of one is too small for this driver to take such a lock at all
    if (held === undefined) return
    const stop = new AbortController()
    const waiting = caught(client.locks.withLock('another', async () => {}, { signal: stop.signal }))
    await until(() => warnings.some((text) => text.includes('the pool has given no connection')), 'a warning')
    stop.abort(new LockTimeoutError('enough'))
    expect(await waiting).toBeInstanceOf(LockTimeoutError)
    await held.release()
  })
})
