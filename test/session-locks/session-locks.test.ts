import { expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError, LockUsageError } from '../../src/core/errors.ts'
import type { LockKey } from '../../src/core/key.ts'
import { rawHashtextKey, rawInt64Key, rawNameKey } from '../../src/core/raw-key.ts'
import { until } from '../engines/use.ts'
import { caught, describeSessionLocks } from './stage.ts'

describeSessionLocks((stage) => {
  const isSharing = stage.name === 'postgres'

  test('a second pool does not get a held lock, and gets it after the release', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const held = await a.acquire(stage.key())
    expect(await stage.onServer()).toMatchObject({ held: 1, waiting: 0 })
    expect(await caught(b.acquire(stage.key(), { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await held.release()
    const next = await b.acquire(stage.key(), { wait: 'nowait' })
    await next.release()
  })

  test('another key is another lock', async () => {
    const [a, b] = [stage.party(), stage.party()]
    await a.acquire(stage.key('one'))
    await b.acquire(stage.key('two'), { wait: 'nowait' })
    expect(await stage.onServer()).toMatchObject({ held: 2 })
  })

  test('the same locks object never gets its own lock a second time', async () => {
    const a = stage.party()
    const held = await a.acquire(stage.key())
    await a.acquire(stage.key('other'))
    expect(await caught(a.acquire(stage.key(), { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    expect(await caught(a.acquire(stage.key(), { wait: { timeoutMs: 150 } }))).toBeInstanceOf(
      LockTimeoutError,
    )
    expect(await caught(a.acquire(stage.key(), { mode: 'shared', wait: 'nowait' }))).toBeInstanceOf(
      LockNotAvailableError,
    )
    await held.release()
    await (await a.acquire(stage.key(), { wait: 'nowait' })).release()
  })

  test.each([40, 300, 1200])('a wait of %i ms ends in LockTimeoutError, not before', async (timeoutMs) => {
    const [a, b] = [stage.party(), stage.party()]
    await a.acquire(stage.key())
    const began = performance.now()
    expect(await caught(b.acquire(stage.key(), { wait: { timeoutMs } }))).toBeInstanceOf(LockTimeoutError)
    const waitedMs = performance.now() - began
    expect(waitedMs).toBeGreaterThanOrEqual(timeoutMs * 0.9) // by another clock than the server's
  })

  test('a wait that blocks is seen on the server, and ends with the release', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const held = await a.acquire(stage.key())
    const waiting = b.acquire(stage.key())
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    await held.release()
    const next = await waiting
    expect(next.receipt).toMatchObject({ granted: 'exclusive', scope: 'session', category: 'advisory' })
    expect(next.receipt.waitedMs).toBeGreaterThan(0)
    await next.release()
  })

  test('a wait with a timeout gets the lock that comes free in time', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const held = await a.acquire(stage.key())
    const waiting = b.acquire(stage.key(), { wait: { timeoutMs: 10_000 } })
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    await held.release()
    await (await waiting).release()
  })

  test('an abort ends the wait, and the server has forgotten it when the caller hears', async () => {
    const [a, b] = [stage.party(), stage.party()]
    await a.acquire(stage.key())
    for (let round = 0; round < 5; round += 1) {
      const aborting = new AbortController()
      const waiting = caught(b.acquire(stage.key(), { signal: aborting.signal }))
      await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
      const reason = new Error('for the test')
      aborting.abort(reason)
      expect(await waiting).toBe(reason)
      expect(await stage.onServer()).toMatchObject({ held: 1, waiting: 0 })
      expect(await caught(b.acquire(stage.key(), { signal: aborting.signal }))).toBe(reason)
    }
  })

  test('those of one process get the lock in the order of asking, with one connection to wait on', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const held = await a.acquire(stage.key())
    const order: number[] = []
    const waiters = Array.from({ length: 6 }, async (_, index) => {
      const own = await b.acquire(stage.key())
      order.push(index)
      await own.release()
    })
    await until(async () => (await stage.onServer()).waiting === 1, 'a waiter on the server')
    expect(b.opened).toHaveLength(1)
    await held.release()
    await Promise.all(waiters)
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('shared locks: as many as ask where the server has them, otherwise the receipt says exclusive', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const first = await a.acquire(stage.key(), { mode: 'shared' })
    expect(first.receipt).toMatchObject({ asked: 'shared', granted: isSharing ? 'shared' : 'exclusive' })
    for (const party of [a, b]) {
      const second = caught(
        party.acquire(stage.key(), { mode: 'shared', wait: 'nowait' }).then((held) => held.release()),
      )
      expect(await second).toEqual(isSharing ? 'no error' : expect.any(LockNotAvailableError))
      expect(await caught(party.acquire(stage.key(), { wait: 'nowait' }))).toBeInstanceOf(
        LockNotAvailableError,
      )
    }
    await first.release()
    await (await b.acquire(stage.key(), { wait: 'nowait' })).release()
  })

  test.runIf(isSharing)('two shared locks of one process are released one by one', async () => {
    const [a, b] = [stage.party(), stage.party()]
    const [one, two] = [
      await a.acquire(stage.key(), { mode: 'shared' }),
      await a.acquire(stage.key(), { mode: 'shared' }),
    ]
    expect(await stage.onServer()).toMatchObject({ held: 2 })
    await one.release()
    expect(await caught(b.acquire(stage.key(), { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await two.release()
    await (await b.acquire(stage.key(), { wait: 'nowait' })).release()
  })

  test.runIf(!isSharing)('exact refuses a shared lock that would be exclusive', async () => {
    await expect(stage.party().acquire(stage.key(), { mode: 'shared', exact: true })).rejects.toMatchObject({
      code: 'LOCK_UNSUPPORTED',
    })
  })

  test('raw names that only the server knows to be the same are not granted twice', async () => {
    const a = stage.party()
    const name = `${stage.name}-Raw`
    await a.acquire(stage.key())
    const outsider = await stage.engine.open()
    const ask = async (sql: string, text: string): Promise<unknown> =>
      Object.values((await outsider.run({ sql, params: [text] }))[0] ?? {})[0]
    if (isSharing) {
      const number = String(await ask('select hashtext($1)::text', name))
      await a.acquire(rawHashtextKey(name))
      expect(await caught(a.acquire(rawInt64Key(BigInt(number)), { wait: 'nowait' }))).toBeInstanceOf(
        LockNotAvailableError,
      )
    } else {
      await a.acquire(rawNameKey(name))
      // MySQL ignores the case of a name, MariaDB does not
      const isSame = Number(await ask('select is_used_lock(?)', name.toUpperCase())) > 0
      const second = caught(
        a.acquire(rawNameKey(name.toUpperCase()), { wait: 'nowait' }).then((again) => again.release()),
      )
      expect(await second).toEqual(isSame ? expect.any(LockNotAvailableError) : 'no error')
    }
    await outsider.close()
  })

  test('a thousand locks at once stand on few connections, and all of them on the server', async () => {
    const a = stage.party({ max: 20 })
    const keys = Array.from({ length: 1000 }, (_, index) => stage.key(index))
    const all = await Promise.all(keys.map((key) => a.acquire(key)))
    const { held, sessions } = await stage.onServer()
    expect(held).toBe(1000)
    expect(sessions.length).toBeLessThanOrEqual(10)
    expect(a.opened.length).toBeLessThanOrEqual(10)
    const b = stage.party()
    for (const key of [keys[0], keys[500], keys[999]]) {
      expect(await caught(b.acquire(key ?? '', { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    }
    // not all at once: each is given up after a few seconds, which a slow machine needs for a thousand
    for (let first = 0; first < all.length; first += 50)
      await Promise.all(all.slice(first, first + 50).map((one) => one.release()))
    expect(await stage.onServer()).toMatchObject({ held: 0 })
  })

  test('more locks than the cap are refused, and a release makes room', async () => {
    const a = stage.party({ limits: { maxLocks: 2 } })
    const one = await a.acquire(stage.key(1))
    await a.acquire(stage.key(2))
    expect(await caught(a.acquire(stage.key(3)))).toBeInstanceOf(LockUsageError)
    await one.release()
    await (await a.acquire(stage.key(3))).release()
    expect(await caught(a.acquire(stage.key(2), { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await (await a.acquire(stage.key(3))).release()
  })

  test('a server that is refused gives no lock, and its connection goes back', async () => {
    const refusal = new LockUsageError('server', 'for the test')
    const a = stage.party({ max: 1, checkServer: () => Promise.reject(refusal) })
    for (let round = 0; round < 3; round += 1) expect(await caught(a.acquire(stage.key()))).toBe(refusal)
    await (await a.borrow()).release()
  })

  const mistakes: readonly (readonly [string, LockKey, object])[] = [
    ['key', '', {}],
    ['key', [], {}],
    ['wait', 'key', { wait: 'skip' }],
    ['wait.timeoutMs', 'key', { wait: { timeoutMs: 0 } }],
    ['mode', 'key', { mode: 'both' }],
    ['scope', 'key', { scope: 'transaction' }],
    ['signal', 'key', { signal: 'stop' }],
    ['timeoutMs', 'key', { timeoutMs: 5 }],
  ]
  test.each(mistakes)('a mistake in %s is refused before anything is opened', async (field, key, options) => {
    const a = stage.party()
    const error = await caught(a.acquire(key, options))
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field: expect.stringContaining(field) })
    expect(a.opened).toHaveLength(0)
  })
})
