import { afterEach, describe, expect, test } from 'vitest'

import { createTestLocks, queue } from '../../src/entries/testing.ts'
import { warnOf } from '../../src/locks/queue/warn.ts'
import { until } from '../engines/use.ts'
import {
  CommitOutcomeUnknownError,
  LockLostError,
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
  UnsupportedLockError,
} from '../../src/core/errors.ts'

const key = ['report', 7] as const

let locks = createTestLocks()
let { testing } = locks
const anew = (): void => {
  locks = createTestLocks()
  ;({ testing } = locks)
}
afterEach(async () => {
  await testing.idle()
  anew()
})

/** Adds one to a number that it has read a while before. */
function counter(): { add: () => Promise<void>; n: () => number } {
  let n = 0
  return {
    n: () => n,
    add: async () => {
      const seen = n
      await testing.clock.advance(1)
      n = seen + 1
    },
  }
}

describe('what an error says', () => {
  test('a lease that is over is called as when it was asked for', async () => {
    const lease = await locks.lease(key)
    await lease.release()
    expect(() => lease.throwIfLost()).toThrow('the lease ["report",7] was released')
  })

  test('a budget that ends what the work did not await is named', async () => {
    await using _ = await testing.hold(key)
    const working = locks.transaction(async (tx) => void locks.lock(tx, key).catch(() => {}), {
      budgetMs: 300,
    })
    const refused = working.catch((error: unknown) => error)
    await testing.untilWaiting(key)
    await testing.clock.advance(60_000)
    expect(await refused).toBeInstanceOf(LockTimeoutError)
    expect(await refused).toMatchObject({ message: expect.stringContaining('within its budgetMs of 300: ') })
  })

  test('that the database is down is said once a minute, with how often', async () => {
    const warnings: string[] = []
    const hear = ({ message }: Error): void =>
      void (message.includes('no_database') && warnings.push(message))
    process.on('warning', hear)
    const claim = { token: 'token', until: 'until' }
    const jobs = queue({ table: 'no_database', id: 'id', orderBy: 'id', claim, done: 'delete' })
    const tell = warnOf(jobs)
    const down = new Error('connect ECONNREFUSED')
    for (let look = 0; look < 5; look += 1) tell(down)
    await testing.clock.advance(60_000)
    tell(down)
    tell(new Error('another'))
    await until(() => warnings.length >= 3, 'the warnings').finally(() => process.off('warning', hear))
    const first = 'looking for jobs in no_database failed: Error: connect ECONNREFUSED'
    expect(warnings.slice(0, 2)).toEqual([first, `${first} (and 4 times since the last warning)`])
  })
})

describe('exclusion', () => {
  test('many who add under one lock lose nothing', async () => {
    const { add, n } = counter()
    await Promise.all(Array.from({ length: 10 }, () => locks.withLock(key, add)))
    expect(n()).toBe(10)
  })

  test('without the lock they lose something', async () => {
    const { add, n } = counter()
    await Promise.all(Array.from({ length: 10 }, add))
    expect(n()).toBeLessThan(10)
  })

  test('two of them know nothing of each other', async () => {
    await using _ = await testing.hold(key)
    expect(await createTestLocks().tryLock(key, async () => 'free')).toEqual({
      acquired: true,
      value: 'free',
    })
  })

  test('a second one waits until the first releases, and is seen waiting', async () => {
    const other = await testing.hold(key)
    const second = locks.withLock(key, async () => 'mine')
    await testing.untilWaiting(key)
    expect(testing.held()).toEqual([
      { key: '["report",7]', kind: 'session', mode: 'exclusive', isWaitedFor: true },
    ])
    await other.release()
    expect(await second).toBe('mine')
  })
})

describe('time', () => {
  test('a wait ends when its time has been moved over, and not before', async () => {
    await using _ = await testing.hold(key)
    let error: unknown
    const waiting = locks
      .withLock(key, async () => {}, { wait: { timeoutMs: 60_000 } })
      .catch((thrown: unknown) => {
        error = thrown
      })
    await testing.untilWaiting(key)
    await testing.clock.advance(59_000)
    expect(error).toBeUndefined()
    await testing.clock.advance(1_000)
    await waiting
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({
      message: 'lock ["report",7] not acquired within 60000 ms',
      key,
      timeoutMs: 60_000,
      dialect: 'memory (not a database)',
    })
  })

  test('a lease is renewed while time goes on, and its holder keeps it', async () => {
    await using lease = await locks.lease('nightly', { ttlMs: 30_000 })
    await testing.clock.advance(10 * 60_000)
    lease.throwIfLost()
    await expect(locks.lease('nightly', { wait: 'nowait' })).rejects.toBeInstanceOf(LockNotAvailableError)
  })

  test('a lease that nobody renews expires, and the next fence is higher', async () => {
    const first = await locks.lease('nightly', { ttlMs: 30_000, renew: false })
    await testing.clock.advance(31_000)
    expect(first.signal.aborted).toBe(true)
    await using second = await locks.lease('nightly')
    expect(second.fence).toBeGreaterThan(first.fence)
  })

  test('a job comes back when its worker is late', async () => {
    const jobs = queue({
      table: 'job',
      id: 'id',
      orderBy: 'id',
      claim: { token: 'token', until: 'until' },
      done: 'delete',
    })
    await testing.add('job', { id: 1 }, { id: 2 })
    const [late] = await locks.claim(jobs, { visibilityMs: 1000 })
    expect(await locks.stats(jobs)).toEqual({ ready: 1, delayed: 0, claimed: 1 })
    await testing.clock.advance(1001)
    expect(await locks.stats(jobs)).toEqual({ ready: 2, delayed: 0, claimed: 0 })
    const [again] = await locks.claim(jobs)
    expect(again?.id).toBe(late?.id)
    await expect(locks.complete(jobs, late as NonNullable<typeof late>)).rejects.toBeInstanceOf(LockLostError)
    await locks.complete(jobs, again as NonNullable<typeof again>)
    expect(testing.rows('job')).toEqual([{ id: 2 }])
  })

  test('a session lock is still held after an hour', async () => {
    await using held = await locks.acquire(key)
    await testing.clock.advance(60 * 60_000)
    expect(held.signal.aborted).toBe(false)
  })

  test('a singleton of once a day runs three times in three days', async () => {
    const stop = new AbortController()
    let runs = 0
    const running = locks.singleton('report', async () => void (runs += 1), {
      everyMs: 24 * 60 * 60_000,
      signal: stop.signal,
    })
    await testing.clock.advance(1)
    for (let day = 1; day < 3; day += 1) await testing.clock.advance(24 * 60 * 60_000 + 60_000)
    stop.abort()
    await running.catch(() => {})
    expect(runs).toBe(3)
  })
})

describe('faults', () => {
  test('serialization: the work has run to its end, and is run again', async () => {
    testing.failNext('serialization', { times: 2 })
    let runs = 0
    const told: string[] = []
    await locks.transaction(async () => void (runs += 1), { onRetry: ({ kind }) => void told.push(kind) })
    expect(runs).toBe(3)
    expect(told).toEqual(['serialization', 'serialization'])
  })

  test('without it, it runs once', async () => {
    let runs = 0
    await locks.transaction(async () => void (runs += 1))
    expect(runs).toBe(1)
  })

  test('deadlock: the next lock in the transaction loses; who swallows that is run again all the same', async () => {
    testing.failNext('deadlock')
    const seen: string[] = []
    await locks.transaction(async (tx) => {
      await locks.lock(tx, key).then(
        () => seen.push('granted'),
        () => seen.push('lost'),
      )
    })
    expect(seen).toEqual(['lost', 'granted'])
  })

  test('deadlock: a transaction that asks for no lock loses at COMMIT, as often as is said', async () => {
    testing.failNext('deadlock', { times: 3 })
    const error: unknown = await locks
      .transaction(async () => {}, { attempts: 3 })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RetryableTransactionError)
    expect(error).toMatchObject({ kind: 'deadlock', isRetryable: true })
  })

  test.each([
    ['withLock', () => locks.withLock(key, async () => {}, { wait: { timeoutMs: 200 } })],
    ['acquire', () => locks.acquire(key, { wait: { timeoutMs: 200 } })],
    ['lock', () => locks.transaction((tx) => locks.lock(tx, key, { wait: { timeoutMs: 200 } }))],
  ])('lock-timeout: %s is refused with the sentence that a database gives', async (_, take) => {
    testing.failNext('lock-timeout')
    const error: unknown = await take().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect((error as Error).message).toBe('lock ["report",7] not acquired within 200 ms')
  })

  test('lock-timeout: whoever only tries finds the lock busy, once', async () => {
    testing.failNext('lock-timeout', { times: 2 })
    expect(await locks.tryLock(key, async () => 'mine')).toEqual({ acquired: false })
    await expect(locks.acquire(key, { wait: 'nowait' })).rejects.toBeInstanceOf(LockNotAvailableError)
    expect(await locks.tryLock(key, async () => 'mine')).toEqual({ acquired: true, value: 'mine' })
    await (await locks.acquire(key)).release()
  })

  test('connection-lost: a transaction is run again', async () => {
    testing.failNext('connection-lost')
    let runs = 0
    await locks.withLock(key, async () => void (runs += 1))
    expect(runs).toBe(1)
    testing.failNext('connection-lost')
    await locks.transaction(async () => void (runs += 1))
    expect(runs).toBe(3)
  })

  test('loseConnections: a session lock is lost, and its holder is told', async () => {
    const held = await locks.acquire(key)
    testing.loseConnections()
    expect(held.signal.reason).toBeInstanceOf(LockLostError)
    await expect(held.release()).rejects.toBeInstanceOf(LockLostError)
  })

  test('commit-unknown: it is not run again, stored or not', async () => {
    for (const isStored of [true, false]) {
      anew()
      testing.failNext('commit-unknown', { isStored })
      let runs = 0
      const work = locks.transaction(async (tx) => {
        runs += 1
        await locks.once(tx, 'charge-1', async () => 'charged')
      })
      await expect(work).rejects.toBeInstanceOf(CommitOutcomeUnknownError)
      expect(runs).toBe(1)
      expect(testing.rows('_once')).toHaveLength(isStored ? 1 : 0)
    }
  })

  test('commit-unknown: verifyCommit decides', async () => {
    testing.failNext('commit-unknown', { isStored: false })
    let runs = 0
    await locks.transaction(async () => void (runs += 1), { verifyCommit: async () => false })
    expect(runs).toBe(2)
    testing.failNext('commit-unknown')
    await locks.transaction(async () => void (runs += 1), { verifyCommit: async () => true })
    expect(runs).toBe(3)
  })

  test('lease-lost: the next renewal finds another, and the holder is told', async () => {
    const lease = await locks.lease('nightly', { ttlMs: 30_000 })
    testing.failNext('lease-lost')
    await testing.clock.advance(30_000)
    expect(lease.signal.reason).toBeInstanceOf(LockLostError)
    const other = await locks.lease('nightly')
    testing.failNext('lease-lost')
    await expect(other.extend()).rejects.toBeInstanceOf(LockLostError)
  })

  test('a leader that loses its connection is told, and stands again', async () => {
    const stop = new AbortController()
    const terms: string[] = []
    const leading = locks.leader('head', {
      signal: stop.signal,
      onElected: () => terms.push('elected'),
      onLost: () => terms.push('lost'),
    })
    await testing.clock.advance(1)
    testing.loseConnections()
    await testing.clock.advance(1000)
    expect(terms).toEqual(['elected', 'lost', 'elected'])
    stop.abort()
    await leading
  })

  test('what cannot fail is said', () => {
    expect(() => testing.failNext('fire' as never)).toThrow(LockUsageError)
    expect(() => testing.failNext('deadlock', { times: 0 })).toThrow(LockUsageError)
    expect(() => testing.failNext('deadlock', { isStored: true })).toThrow(LockUsageError)
    expect(() => testing.failNext('deadlock', { time: 2 } as never)).toThrow(LockUsageError)
  })
})

describe('it is not a database', () => {
  test('and says so', () => {
    expect(locks.isDatabase).toBe(false)
    expect(locks.dialect).toBe('memory (not a database)')
  })

  test('rows are refused, with what to do instead', async () => {
    const error: unknown = await locks
      .transaction((tx) => locks.rows(tx, { table: 'stock', key: { id: 7 } }))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnsupportedLockError)
    expect((error as Error).message).toContain('there is no database behind holdfast/testing')
    expect(error).toMatchObject({ instead: expect.stringContaining('an SQLite file is enough') as string })
  })

  test('attest, inspect and adviseIndexes are refused', async () => {
    await expect(locks.attest()).rejects.toBeInstanceOf(LockUsageError)
    await expect(locks.inspect()).rejects.toBeInstanceOf(LockUsageError)
  })

  test('a tx of your own is what the work receives, a new one each time', async () => {
    let made = 0
    const own = createTestLocks({ tx: () => ({ query: (text: string) => `${text} ${(made += 1)}` }) })
    expect(await own.transaction(async (tx) => tx.query('SELECT'))).toBe('SELECT 1')
    const same = {}
    const wrong = createTestLocks({ tx: () => same })
    await wrong.transaction(async () => {})
    await expect(wrong.transaction(async () => {})).rejects.toBeInstanceOf(LockUsageError)
  })
})

describe('idle', () => {
  test.each([
    ['session lock ["report",7] is held', () => locks.acquire(key)],
    ['lease nightly is held', () => locks.lease('nightly')],
    ["failNext('deadlock') has not struck", async () => testing.failNext('deadlock')],
  ])('says that %s', async (left, leave) => {
    await leave()
    await expect(testing.idle()).rejects.toThrow(`holdfast/testing is not idle: ${left}`)
    anew()
  })

  test('says that a transaction is open and a lock waited for', async () => {
    const other = await testing.hold(key)
    const waiting = locks.withLock(key, async () => {})
    await testing.untilWaiting(key)
    await expect(testing.idle()).rejects.toThrow('lock ["report",7] is waited for; 1 transaction is open')
    await other.release()
    await waiting
  })
})
