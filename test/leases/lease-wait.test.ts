import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'

import { sessions as sqliteSessions } from '../../src/adapters/better-sqlite3/sessions.ts'
import { LockTimeoutError, LockUsageError } from '../../src/core/errors.ts'
import { identify } from '../../src/locks/identify.ts'
import type { LeaseOptions } from '../../src/locks/lease/options.ts'
import { createLeases, type Lease } from '../../src/locks/lease/lease.ts'
import { pollMs } from '../../src/locks/lease/wait.ts'
import { findDialect } from '../../src/registry.ts'
import { describeEngines, until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { briefly } from './briefly.ts'
import { describeLeases, take } from './lease-stage.ts'

describeLeases((stage) => {
  test('those of one process get the lease in the order of asking', async () => {
    const name = stage.fresh()
    const asked = [1, 2, 3, 4, 5, 6, 7, 8]
    let looks = 0
    const leases = stage.process({ onOpen: () => (looks += 1) })
    const first = await take(stage.process(), name)
    const order: number[] = []
    const waiting = asked.map(async (index) => {
      const lease = await take(leases, name)
      order.push(index)
      await lease.release()
    })
    // each of them would look at moments of its own by now
    await until(() => looks >= 5, 'some looks')
    await first.release()
    await Promise.all(waiting)
    expect(order).toEqual(asked)
  })

  test('a lost lease does not keep others of its process from waiting for it', async () => {
    const name = stage.fresh()
    const leases = stage.process()
    const lost = await briefly((ttlMs) => take(leases, name, { ttlMs, renew: false }))
    const next = await take(leases, name, { wait: { timeoutMs: 60_000 } })
    expect(next.fence).toBeGreaterThan(lost.fence)
  })

  test('a wait ends when its time is over, and not before', async () => {
    const name = stage.fresh()
    const holder = await take(stage.process(), name)
    const leases = stage.process()
    const began = performance.now()
    const ends = await Promise.all(
      [300, 600].map(async (timeoutMs) => {
        const error = await caught(take(leases, name, { wait: { timeoutMs } }))
        return { error, timeoutMs, tookMs: performance.now() - began }
      }),
    )
    for (const { error, timeoutMs, tookMs } of ends) {
      expect(error).toBeInstanceOf(LockTimeoutError)
      expect(tookMs).toBeGreaterThanOrEqual(timeoutMs * 0.9) // clocks differ
    }
    expect((await stage.row(name))?.owner).toBe(holder.owner)
  })

  test('an aborted wait rejects with the reason, and whoever waits behind goes on', async () => {
    const name = stage.fresh()
    const leases = stage.process()
    const holder = await take(leases, name)
    const giveUp = new AbortController()
    const impatient = caught(take(leases, name, { signal: giveUp.signal }))
    const patient = take(leases, name)
    giveUp.abort(new Error('no longer needed'))
    expect(await impatient).toMatchObject({ message: 'no longer needed' })
    await holder.release()
    await patient
  })

  test('however a wait ends, nothing stays granted that nobody knows of', async () => {
    const name = stage.fresh()
    const leases = [stage.process(), stage.process()] as const
    const granted: Lease[] = []
    await take(leases[0], name).then((lease) => lease.release()) // makes what is needed once
    const race = async (index: number): Promise<void> => {
      const giveUp = new AbortController()
      const options: LeaseOptions =
        [
          { signal: giveUp.signal },
          { wait: { timeoutMs: 1 + (index % 7) * 15 } },
          { wait: 'nowait', signal: giveUp.signal } as const,
          {}, // however slow the machine is, this one gets it
        ][index % 4] ?? {}
      const asking = caught(
        leases[index % 2 === 0 ? 0 : 1].take({ key: name, name, options }).then(async (lease) => {
          granted.push(lease)
          await lease.release()
        }),
      )
      await delay((index % 11) * 8)
      giveUp.abort(new Error('no longer needed'))
      await asking
    }
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 12 }, (_, index) => race(index + round)))
    }
    await until(async () => (await stage.row(name))?.owner === null, 'a lease without an owner')
    await take(leases[0], name, { wait: { timeoutMs: 60_000 } })
    expect(granted.length).toBeGreaterThan(0)
  })
})

test('a wait sleeps for 25 to 50 ms at first and never for more than half a second', () => {
  const looks = Array.from({ length: 40 }, (_, index) => index + 1)
  expect(looks.map((look) => pollMs(look, () => 0.999_999)).every((ms) => ms >= 49 && ms <= 500)).toBe(true)
  expect(looks.map((look) => pollMs(look, () => 0)).every((ms) => ms >= 25 && ms <= 250)).toBe(true)
  expect(pollMs(40, () => 1)).toBe(500)
})

const mistakes: readonly (readonly [string, object])[] = [
  ['ttlMs', { ttlMs: 0 }],
  ['ttlMs', { ttlMs: -1 }],
  ['ttlMs', { ttlMs: Number.NaN }],
  ['ttlMs', { ttlMs: 99 }],
  ['ttlMs', { ttlMs: 2 ** 40 }],
  ['ttlMs', { ttlMs: '1000' }],
  ['wait', { wait: 'skip' }],
  ['wait.timeoutMs', { wait: { timeoutMs: 0 } }],
  ['holdAtLeastMs', { holdAtLeastMs: -1 }],
  ['holdAtLeastMs', { holdAtLeastMs: Number.NaN }],
  ['renew', { renew: 'yes' }],
  ['signal', { signal: {} }],
  ['ttl', { ttl: 1000 }],
]

describeEngines(
  (context) => {
    const leasesOn = (options: Database.Options): ReturnType<typeof createLeases> =>
      createLeases({
        sessions: sqliteSessions(() => new Database(context.engine.server.url, options)),
        server: identify({ dialects: [findDialect('sqlite')], version: undefined }),
      })

    test.each(mistakes)('a mistake in %s is refused at the door', async (field, options) => {
      const error = await caught(leasesOn({}).take({ key: 'k', name: 'k', options }))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({ field })
    })

    test('a table that cannot be made is told with the way to make it', async () => {
      const error = await caught(leasesOn({ readonly: true }).take({ key: 'k', name: 'k' }))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({ message: expect.stringContaining('holdfast schema sqlite') })
      expect((error as Error).cause).toMatchObject({ code: 'SQLITE_READONLY' })
    })

    test('many who find the table missing at once make it once', async () => {
      const leases = leasesOn({})
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => leases.take({ key: name, name })))
      expect(all).toHaveLength(4)
      await Promise.all(all.map((lease) => lease.release()))
    })

    test('an extension is checked like the lease itself', async () => {
      await using lease = await leasesOn({}).take({ key: 'extended', name: 'extended' })
      expect(await caught(lease.extend(0))).toMatchObject({ field: 'ttlMs' })
      expect(lease.signal.aborted).toBe(false)
    })
  },
  { only: ['sqlite'] },
)
