import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'

import type { Coordinator } from '../../src/coordinator.ts'
import {
  LockLostError,
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
} from '../../src/core/errors.ts'
import { deferred } from '../../src/conformance/deferred.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { permitNames } from '../../src/core/permit-name.ts'
import { createLeases as onEtcd, type EtcdFetch } from '../../src/entries/etcd.ts'
import {
  createLeases as onRedis,
  type Lease,
  type NodeRedisClient,
  type Permit,
} from '../../src/entries/redis.ts'
import { startEtcd } from '../engines/etcd-server.ts'
import { useExtraServer, type Skip } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { until } from '../engines/until.ts'
import { caught } from '../entries/stage.ts'
import { endpointsOf, isOwned } from './etcd-keys.ts'
import { nodeRedis, type OpenedRedis } from './redis-clients.ts'

const redis = useExtraServer(() => startRedis())
const etcd = useExtraServer(() => startEtcd())

/** Decides when a request goes on its way, by the names of the leases in it and what it does with them. */
type Gate = (request: Requested) => Promise<void> | undefined

interface Requested {
  /** With the names of the leases. */
  readonly text: string
  readonly isRenewal: boolean
}

interface Application {
  readonly leases: Coordinator
  readonly isTaken: (name: string) => Promise<boolean>
}

const opened: OpenedRedis[] = []
afterEach(async () => void (await Promise.all(opened.splice(0).map(({ close }) => close()))))

async function withRedis(skip: Skip, gate: Gate = () => undefined): Promise<Application> {
  const one = await nodeRedis.open(redis(skip).server.url)
  opened.push(one)
  const real = one.client as NodeRedisClient
  const through = async <T>(on: { readonly keys?: string[]; readonly arguments?: string[] }, go: () => T) => {
    const { keys = [], arguments: args = [] } = on
    await gate({ text: keys.join(' '), isRenewal: args.length === 3 })
    return go()
  }
  const client: NodeRedisClient = {
    eval: (script, on) => through(on, () => real.eval(script, on)),
    evalSha: (sha, on) => through(on, () => real.evalSha(sha, on)),
    duplicate: () => real.duplicate(),
  }
  return {
    leases: onRedis(client),
    isTaken: async (name) => {
      const key = `holdfast:lease:${name.replace(/[a-z2-7]{32}$/, '{$&}')}`
      return ((await one.send('HGET', key, 'owner')) ?? '') !== ''
    },
  }
}

async function withEtcd(skip: Skip, gate: Gate = () => undefined): Promise<Application> {
  const endpoints = endpointsOf(etcd(skip))
  const gated: EtcdFetch = async (url, init) => {
    const text = init.body.replaceAll(/"key":"([^"]*)"/g, (_, key: string) => clear(key))
    await gate({ text, isRenewal: url.endsWith('/v3/lease/keepalive') })
    return fetch(url, init)
  }
  return { leases: onEtcd({ endpoints, fetch: gated }), isTaken: (name) => isOwned(endpoints, name) }
}

function clear(key: string): string {
  return Buffer.from(key, 'base64').toString()
}

function namesOf(key: string): ReturnType<typeof permitNames> {
  return permitNames(chosenLeaseName(key), 'shared')
}

type Enter = (
  application: Application,
  work: (lease: Lease) => Promise<void>,
  mode: 'shared' | 'exclusive',
) => Promise<void>

/** Lets readers and writers of all applications in at once, and says who met that must not. */
async function meetings(applications: readonly Application[], enter: Enter): Promise<readonly string[]> {
  const inside = { shared: 0, exclusive: 0 }
  const met: string[] = []
  const visit = (application: Application, mode: 'shared' | 'exclusive'): Promise<void> =>
    enter(
      application,
      async (lease) => {
        inside[mode] += 1
        if (inside.exclusive > 1 || (inside.exclusive > 0 && inside.shared > 0))
          met.push(JSON.stringify(inside))
        await lease.extend() // gives others the time to come in
        inside[mode] -= 1
      },
      mode,
    )
  const modes = ['shared', 'exclusive', 'shared'] as const
  await Promise.all(applications.flatMap((one) => modes.map((mode) => visit(one, mode))))
  return met
}

const shared = { mode: 'shared' } as const
const nowait = { wait: 'nowait' } as const
/** So long that a test is over before its leases. */
const forAnHour = { ttlMs: 3_600_000 }

describe.each([
  { server: 'Redis', join: withRedis },
  { server: 'etcd', join: withEtcd },
])('on $server', ({ join }) => {
  test('many share it, and who wants it alone waits for all of them and is passed by nobody', async ({
    skip,
  }) => {
    const [{ leases, isTaken }, other] = [await join(skip), await join(skip)]
    const key = randomUUID()
    const lock = leases.sharedLock(key)
    const readers = await Promise.all(Array.from({ length: 5 }, () => lock.acquire(shared)))
    const order: string[] = []
    const writing = other.leases.sharedLock(key).acquire()
    void writing.then(() => order.push('alone'))
    await until(() => isTaken(namesOf(key).door), 'somebody who wants it alone')
    const late = lock.acquire(shared)
    void late.then(() => order.push('shared'))
    for (const reader of readers) {
      expect(order).toEqual([])
      reader.throwIfLost()
      await reader.release()
    }
    const writer = await writing
    expect(await caught(lock.acquire({ ...shared, ...nowait }))).toBeInstanceOf(LockNotAvailableError)
    expect(await caught(lock.acquire(nowait))).toBeInstanceOf(LockNotAvailableError)
    expect(order).toEqual(['alone'])
    await writer.release()
    await (await late).release()
    expect(order).toEqual(['alone', 'shared'])
  })

  test('while it is shared nobody has it alone, and others share it at once', async ({ skip }) => {
    const { leases, isTaken } = await join(skip)
    const key = randomUUID()
    const lock = leases.sharedLock(key, forAnHour)
    const first = await lock.acquire(shared)
    const second = await lock.acquire({ ...shared, ...nowait })
    expect(await caught(lock.acquire(nowait))).toMatchObject({
      code: 'LOCK_NOT_AVAILABLE',
      mode: 'exclusive',
      message: /^shared lock "/,
    })
    expect(await caught(lock.acquire({ wait: { timeoutMs: 50 } }))).toMatchObject({
      code: 'LOCK_TIMEOUT',
      message: /not acquired within 50 ms/,
    })
    await Promise.all([first.release(), second.release()])
    // What was asked for by who has given up may still be on its way, and is given back when it has come: what were not
    // would be there for an hour.
    await (await lock.acquire()).release()
    await until(async () => !(await isTaken(namesOf(key).door)), 'a door that was left')
  })

  test('who was held up between the door and its place is not let in beside another', async ({ skip }) => {
    const { leases } = await join(skip)
    const key = randomUUID()
    const { promise: hold, resolve: goOn } = deferred<void>()
    let [isHeldUp, isFree, isIn] = [false, false, false]
    let atDoor = 0
    // nothing of it comes through once it asks for a place, as with a process that is stopped
    const late = await join(skip, ({ text }) => {
      isHeldUp ||= text.match(/hs:\d+:/g)?.length === 1
      if (isFree && text.includes('hs:door:')) atDoor += 1
      return isHeldUp ? hold : undefined
    })
    const reading = late.leases.sharedLock(key).acquire(shared)
    void reading.then(() => (isIn = true))
    await until(() => isHeldUp, 'a request for a place')
    // the door opens by itself, and somebody takes the lock alone
    const writer = await leases.sharedLock(key).acquire()
    isFree = true
    goOn()
    // it stands at the door again, and looks time and again
    await until(() => isIn || atDoor > 4, 'what it does with its place')
    await writer.extend()
    expect(isIn).toBe(false)
    await writer.release()
    await (await reading).release()
  })

  test('who is not heard of is out, also when its renewal comes after somebody has the lock alone', async ({
    skip,
  }) => {
    const { leases, isTaken } = await join(skip)
    const key = randomUUID()
    const { promise: hold, resolve: goOn } = deferred<void>()
    const late = await join(skip, ({ isRenewal }) => (isRenewal && isIn ? hold : undefined))
    let isIn = false
    const reader = await late.leases.sharedLock(key, { ttlMs: 2000 }).acquire(shared)
    isIn = true
    const extending = caught(reader.extend())
    const writer = await leases.sharedLock(key).acquire()
    expect(reader.signal.aborted).toBe(true)
    // so that the server says so too, to a holder whose clock stood still
    expect(await isTaken(namesOf(key).slot((reader as Permit).slot))).toBe(false)
    goOn()
    expect(await extending).toBeInstanceOf(LockLostError)
    expect(reader.remainingMs()).toBe(0)
    await writer.extend()
    await writer.release()
    await reader.release()
  })

  test('who gives up at any moment leaves nothing behind, in either mode', async ({ skip }) => {
    const { leases } = await join(skip)
    const lock = leases.sharedLock(randomUUID())
    for (const [held, mode] of [
      ['exclusive', 'shared'],
      ['shared', 'exclusive'],
    ] as const) {
      const holder = await lock.acquire({ mode: held })
      for (let turns = 0; turns < 400; turns += 20) {
        const giveUp = new AbortController()
        const refused = caught(lock.acquire({ mode, signal: giveUp.signal }))
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        giveUp.abort(new Error('changed my mind'))
        expect(await refused).toBe(giveUp.signal.reason)
      }
      await holder.release()
      // whoever gave up does not wait until the server has heard of it
      await (await lock.acquire()).release()
    }
  })

  test('a server that falls silent at the last moment holds up nobody who does not wait for it', async ({
    skip,
  }) => {
    for (const wait of ['nowait', { timeoutMs: 500 }, 'block'] as const) {
      const key = randomUUID()
      const giveUp = new AbortController()
      const late = await join(skip, ({ isRenewal }) => {
        if (isRenewal && wait === 'block') setImmediate(() => giveUp.abort(new Error('enough')))
        return isRenewal ? new Promise(() => {}) : undefined
      })
      const lock = late.leases.sharedLock(key, forAnHour)
      const error = await caught(lock.acquire({ wait, signal: giveUp.signal }))
      if (wait === 'block') expect(error).toBe(giveUp.signal.reason)
      else {
        expect(error).toMatchObject({ key, mode: 'exclusive', message: /^shared lock ".*" not acquired/ })
        expect(error).toBeInstanceOf(wait === 'nowait' ? LockNotAvailableError : LockTimeoutError)
      }
      // what it had is given back
      await (await (await join(skip)).leases.sharedLock(key).acquire()).release()
    }
  })

  test('who does not wait is not told of a holder by a server that says nothing', async ({ skip }) => {
    const late = await join(skip, () => new Promise(() => {}))
    const lock = late.leases.sharedLock(randomUUID())
    for (const mode of ['shared', 'exclusive'] as const) {
      const error = await caught(lock.acquire({ mode, ...nowait }))
      expect(error).toMatchObject({ code: 'LOCK_NOT_AVAILABLE', mode, message: /no answer|does not answer/ })
    }
  })

  test('who gives up while it is let in is not let in', async ({ skip }) => {
    for (const mode of ['shared', 'exclusive'] as const) {
      const key = randomUUID()
      const giveUp = new AbortController()
      const late = await join(skip, ({ isRenewal }) => void (isRenewal && giveUp.abort(new Error('enough'))))
      const refused = caught(late.leases.sharedLock(key).acquire({ mode, signal: giveUp.signal }))
      expect(await refused).toBe(giveUp.signal.reason)
      await (await (await join(skip)).leases.sharedLock(key).acquire()).release()
    }
  })

  test('a wait that is over says what was asked for', async ({ skip }) => {
    const { leases } = await join(skip)
    const key = randomUUID()
    const lock = leases.sharedLock(key)
    const holder = await lock.acquire(shared)
    for (let timeoutMs = 5; timeoutMs < 300; timeoutMs += 29) {
      expect(await caught(lock.acquire({ wait: { timeoutMs } }))).toMatchObject({
        name: 'LockTimeoutError',
        key,
        mode: 'exclusive',
        timeoutMs,
        message: expect.stringMatching(`^shared lock "${key}" not acquired within ${timeoutMs} ms`),
      })
    }
    await holder.release()
  })

  test('those of one process come in in the order of asking, in either mode', async ({ skip }) => {
    const { leases } = await join(skip)
    const lock = leases.sharedLock(randomUUID())
    const holder = await lock.acquire()
    const order: number[] = []
    const modes = ['shared', 'exclusive', 'shared', 'shared', 'exclusive', 'shared'] as const
    const visits = []
    for (const [place, mode] of modes.entries()) {
      visits.push(lock.withLock(async () => void order.push(place), { mode }))
      // each stands in line before the next asks
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    await holder.release()
    await Promise.all(visits)
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('a hundred share it, and the next one waits', async ({ skip }) => {
    const { leases } = await join(skip)
    const lock = leases.sharedLock(randomUUID())
    const all = await Promise.all(Array.from({ length: 100 }, () => lock.acquire(shared)))
    expect(await caught(lock.acquire({ ...shared, wait: { timeoutMs: 100 } }))).toBeInstanceOf(
      LockTimeoutError,
    )
    expect(await caught(lock.acquire({ ...shared, ...nowait }))).toMatchObject({
      message: /all 100 places are taken/,
    })
    await all.pop()?.release()
    all.push(await lock.acquire(shared))
    await Promise.all(all.map((lease) => lease.release()))
    await (await lock.acquire(nowait)).release()
  })

  test('a crowd of readers and writers never meets where it must not', async ({ skip }) => {
    const applications = await Promise.all(Array.from({ length: 4 }, () => join(skip)))
    const key = randomUUID()
    const meet = (enter: Enter): Promise<readonly string[]> => meetings(applications, enter)
    for (let round = 0; round < 3; round += 1)
      expect(await meet(({ leases }, work, mode) => leases.sharedLock(key).withLock(work, { mode }))).toEqual(
        [],
      )
    // it is the lock that keeps them apart
    let met: readonly string[] = []
    const many = { permits: 100 }
    await until(async () => {
      met = await meet(({ leases }, work) => leases.semaphore(key, many).withPermit(work))
      return met.length > 0
    }, 'some who meet without it')
  })

  test('the fences of those who have it alone rise', async ({ skip }) => {
    const { leases } = await join(skip)
    const lock = leases.sharedLock(randomUUID())
    const fences: number[] = []
    for (const mode of ['exclusive', 'shared', 'exclusive'] as const) {
      await lock.withLock(async ({ fence }: Lease) => void (mode === 'exclusive' && fences.push(fence)), {
        mode,
      })
    }
    expect(fences[1]).toBeGreaterThan(fences[0] ?? Infinity)
  })

  test('it has nothing to do with a lease or a semaphore of the same key', async ({ skip }) => {
    const { leases } = await join(skip)
    const key = randomUUID()
    const held = [
      await leases.lease(key),
      await leases.semaphore(key, { permits: 1 }).acquire(),
      await leases.sharedLock(key).acquire(nowait),
    ]
    await Promise.all(held.map((lease) => lease.release()))
  })

  test('what is asked for in a wrong way is refused at the door', async ({ skip }) => {
    const { leases } = await join(skip)
    const lock = leases.sharedLock('k')
    expect(await caught(lock.acquire({ mode: 'read' as never }))).toMatchObject({ field: 'mode' })
    expect(await caught(lock.acquire({ wait: null as never }))).toMatchObject({ field: 'wait' })
    expect(await caught(lock.acquire({ ttlMs: 5 } as never))).toMatchObject({ field: 'ttlMs' })
    expect(await caught(lock.withLock(undefined as never))).toBeInstanceOf(LockUsageError)
    expect(() => leases.sharedLock('k', { ttlMs: 999 })).toThrow(/from 1000 up/)
    expect(() => leases.sharedLock('k', { readers: 5 } as never)).toThrow(LockUsageError)
    expect(() => leases.sharedLock('')).toThrow(LockUsageError)
  })
})
