import Database from 'better-sqlite3'
import { beforeEach, expect, test, vi } from 'vitest'

import type { Locks } from '../../src/locks.ts'

type Locking = Pick<
  Locks<unknown>,
  'lease' | 'acquire' | 'once' | 'transaction' | 'updateVersioned' | 'inOrder'
>

let locks: Locking
let database: Database.Database

beforeEach(async () => {
  // as in a process that has called nothing yet: all that is loaded on demand is still to be loaded
  vi.resetModules()
  const { createLocks } = await import('../../src/entries/better-sqlite3.ts')
  database = new Database(':memory:')
  locks = createLocks(database) as Locking
  return () => void database.close()
})

test('a key is the one of the call, although it is changed while the code is loaded', async () => {
  const key: [string, number] = ['report', 1]
  const taking = locks.lease(key, { wait: 'nowait' })
  const holding = locks.acquire(key, { wait: 'nowait' })
  key[1] = 2
  const [lease, held] = await Promise.all([taking, holding])
  expect([lease.key, held.key]).toEqual([
    ['report', 1],
    ['report', 1],
  ])
  for (const taken of [
    locks.lease(['report', 1], { wait: 'nowait' }),
    locks.acquire(['report', 1], { wait: 'nowait' }),
  ])
    await expect(taken).rejects.toMatchObject({ name: 'LockNotAvailableError' })
  await lease.release()
  await held.release()
})

test('options are those of the call', async () => {
  const options: { ttlMs: number; wait: 'nowait' } = { ttlMs: 60_000, wait: 'nowait' }
  const taking = locks.lease('report', options)
  options.ttlMs = 200
  const lease = await taking
  expect(lease.remainingMs()).toBeGreaterThan(10_000)
  await lease.release()
})

test('who aborts while the code is loaded gets the reason, and nothing is taken', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const taking = [
    locks.lease('report', { signal: stop.signal }),
    locks.acquire('import', { signal: stop.signal }),
  ]
  stop.abort(reason)
  for (const { status, reason: why } of (await Promise.allSettled(taking)) as PromiseRejectedResult[])
    expect([status, why]).toEqual(['rejected', reason])
  const [lease, held] = [
    await locks.lease('report', { wait: 'nowait' }),
    await locks.acquire('import', { wait: 'nowait' }),
  ]
  await lease.release()
  await held.release()
})

test('two who ask for the same one after the other get it in that order', async () => {
  const order: string[] = []
  const take = async (name: string): Promise<void> => {
    const held = await locks.acquire('import')
    order.push(name)
    await held.release()
  }
  await Promise.all([take('first'), take('second'), take('third')])
  expect(order).toEqual(['first', 'second', 'third'])
})

test('a call that nobody awaits is a part of its transaction while the code is loaded', async () => {
  database.exec('CREATE TABLE stock (item TEXT, n INTEGER, version INTEGER)')
  database.exec("INSERT INTO stock VALUES ('book', 1, 1)")
  const done: string[] = []
  await locks.transaction(async (tx) => {
    void locks.once(tx, ['payment', 42], async () => void done.push('paid'))
    void locks.inOrder(tx, [{ name: 'report' }]).then(() => void done.push('locked'))
    const update = { table: 'stock', key: { item: 'book' }, expected: 1, set: { n: 0 } }
    void locks.updateVersioned(tx, update)
    update.set.n = 7
  })
  expect(done.toSorted()).toEqual(['locked', 'paid'])
  expect(database.prepare('SELECT n, version FROM stock').all()).toEqual([{ n: 0, version: 2 }])
  const again = locks.transaction((tx) => locks.once(tx, ['payment', 42], async () => {}))
  expect(await again).toEqual({ isFirst: false })
})
