import { expect, test } from 'vitest'

import { LockTimeoutError, LockUsageError } from '../../src/core/errors.ts'
import { until } from '../engines/use.ts'
import { caught, describeSessionLocks } from './stage.ts'

describeSessionLocks((stage) => {
  test.each([1, 2])('a pool of %i under contention makes progress, and nobody is left out', async (max) => {
    const parties = [stage.party({ max }), stage.party({ max })]
    const inside = new Map<number, number>()
    let done = 0
    const flow = async (index: number): Promise<void> => {
      for (let round = 0; round < 5; round += 1) {
        const which = (index + round) % 3
        const held = await parties[index % 2]?.acquire(stage.key(which))
        const others = inside.get(which) ?? 0
        inside.set(which, others + 1)
        expect(others).toBe(0)
        await new Promise(setImmediate)
        inside.set(which, others)
        await held?.release()
        done += 1
      }
    }
    await Promise.all(Array.from({ length: 12 }, (_, index) => flow(index)))
    expect(done).toBe(60)
  })

  test('the only connection of a pool holds many locks', async () => {
    const a = stage.party({ max: 1 })
    const held = await Promise.all(Array.from({ length: 50 }, (_, index) => a.acquire(stage.key(index))))
    expect((await stage.onServer()).sessions).toHaveLength(1)
    await Promise.all(held.map((one) => one.release()))
  })

  test('a lock that comes free is found on the shared connection, when the pool has none to wait on', async () => {
    const [a, b] = [stage.party({ max: 1 }), stage.party()]
    await a.acquire(stage.key('kept'))
    const elsewhere = await b.acquire(stage.key())
    const waiting = a.acquire(stage.key())
    await until(() => a.queued() !== 0, 'the wait for a connection')
    await elsewhere.release()
    await (await waiting).release()
  })

  test('a wait for a lock of the same process ends, when its connection is the only one', async () => {
    const a = stage.party({ max: 1 })
    for (const isKept of [true, false]) {
      const kept = isKept ? await a.acquire(stage.key('kept')) : undefined
      const held = await a.acquire(stage.key())
      const waiting = a.acquire(stage.key(), { wait: { timeoutMs: 20_000 } })
      await new Promise(setImmediate)
      await held.release()
      await (await waiting).release()
      await kept?.release()
    }
  })

  test('waits that end without their connection do not pile up in the line of the pool', async () => {
    const [a, b] = [stage.party({ max: 1 }), stage.party()]
    await a.acquire(stage.key('kept'))
    for (let round = 0; round < 10; round += 1) {
      const elsewhere = await b.acquire(stage.key())
      const waiting = a.acquire(stage.key())
      await until(() => a.queued() !== 0, 'the wait for a connection')
      await elsewhere.release()
      await (await waiting).release()
    }
    expect(a.queued() ?? 1).toBe(1)
  })

  test('a pool that gives nothing ends in an error that says who has the connections', async () => {
    const a = stage.party({ max: 1, limits: { patienceMs: 200 } })
    const borrowed = await a.borrow()
    for (const wait of ['nowait', 'block'] as const) {
      const error = await caught(a.acquire(stage.key(), { wait }))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({
        field: 'pool',
        message: expect.stringMatching(
          /no connection became free in 200 ms .*0 session locks .* hold 0 connections/,
        ),
      })
    }
    const timely = await caught(a.acquire(stage.key(), { wait: { timeoutMs: 100 } }))
    expect(timely).toBeInstanceOf(LockTimeoutError)
    expect(timely).toMatchObject({ message: expect.stringMatching(/no connection became free in \d+ ms/) })
    await borrowed.release()
    await (await a.acquire(stage.key())).release()
  })

  test('an abort ends the wait for a connection too', async () => {
    const a = stage.party({ max: 1 })
    const borrowed = await a.borrow()
    const aborting = new AbortController()
    const waiting = caught(a.acquire(stage.key(), { signal: aborting.signal }))
    aborting.abort(new Error('for the test'))
    expect(await waiting).toBe(aborting.signal.reason)
    await borrowed.release()
    await (await a.borrow()).release()
  })

  test('the only connection waits for one lock, and the call for another says why it gets none', async () => {
    const [a, b] = [stage.party({ max: 1, limits: { patienceMs: 200 } }), stage.party()]
    const elsewhere = await b.acquire(stage.key())
    await (await a.borrow()).release() // logs in, for which the patience may be too short
    const waiting = a.acquire(stage.key())
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    const error = await caught(a.acquire(stage.key('other')))
    expect(error).toMatchObject({
      field: 'pool',
      message: expect.stringContaining('on 1 more a lock is waited for'),
    })
    await elsewhere.release()
    await (await waiting).release()
  })

  test('the connection goes back as it came', async () => {
    const [a, b] = [stage.party({ max: 1 }), stage.party()]
    const elsewhere = await b.acquire(stage.key())
    expect(await caught(a.acquire(stage.key(), { wait: { timeoutMs: 1000 } }))).toBeInstanceOf(
      LockTimeoutError,
    )
    await elsewhere.release()
    await (await a.acquire(stage.key())).release()
    expect(a.opened.length).toBeGreaterThan(1)
    if (stage.name !== 'postgres') return
    expect(new Set(a.opened.map(({ backend }) => backend)).size).toBe(1)
    const next = await a.borrow()
    expect(next.backend).toBe(a.opened[0]?.backend)
    expect(await next.run({ sql: 'show lock_timeout', params: [] })).toEqual([{ lock_timeout: '0' }])
    await next.release()
  })
})
