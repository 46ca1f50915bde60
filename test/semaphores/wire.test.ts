import { expect, test } from 'vitest'

import { describeEngines, type EngineContext } from '../engines/use.ts'
import { connected } from '../wire/subject.ts'

describeEngines(specs, { only: ['postgres', 'mysql', 'mariadb'] })

const look = expect.stringMatching(/^SELECT name, expires_at - .* FROM _leases WHERE name IN/)

/** What a request for one lease, and its end, are on the wire. */
const leaseTrips: Readonly<Record<string, { take: readonly unknown[]; release: readonly unknown[] }>> = {
  // prepared on the connection when they were sent first, so that no text of theirs is on the wire
  postgres: { take: [''], release: [''] },
  mysql: {
    take: [expect.stringMatching(/^INSERT INTO _leases/), expect.stringMatching(/^SELECT fence/)],
    release: [expect.stringMatching(/^UPDATE _leases/), 'SELECT ROW_COUNT() AS answer'],
  },
}

function specs(context: EngineContext): void {
  const subject = connected(context)
  const { take = [], release = [] } = leaseTrips[context.name] ?? leaseTrips.mysql ?? {}

  test('a permit costs one look and one request for a lease, and its release that of a lease', async () => {
    const { locks, proxy } = subject()
    const semaphore = locks.semaphore('uncontended', { permits: 100 })
    await (await semaphore.acquire()).release()
    await (await semaphore.tryAcquire())?.release() // whoever does not wait says so
    const trips = await proxy.during(async () => (await semaphore.acquire()).release())
    expect(trips).toEqual([look, ...take, ...release])
    const tried = await proxy.during(async () => (await semaphore.tryAcquire())?.release())
    expect(tried).toEqual([look, ...take, ...release])
  })

  test('that there is none costs one look, however many permits there are', async () => {
    const { locks, proxy } = subject()
    const semaphore = locks.semaphore('full', { permits: 20 })
    const held = await Promise.all(Array.from({ length: 20 }, () => semaphore.acquire()))
    const trips = await proxy.during(async () => expect(await semaphore.tryAcquire()).toBeNull())
    expect(trips).toEqual([look])
    for (const permit of held) await permit.release()
  })

  test('a permit that has to be waited for costs the door besides: to come there and to leave it', async () => {
    const { locks, proxy } = subject()
    const semaphore = locks.semaphore('waited for', { permits: 1 })
    const held = await semaphore.acquire({ wait: 'nowait' })
    const trips = await proxy.during(async () => {
      const next = semaphore.acquire()
      // the pool has one connection: what follows is sent when the line is stood in, or before
      await held.release()
      await (await next).release()
    })
    const looks = trips.filter((trip) => look.asymmetricMatch(trip)).length
    const rest = trips.filter((trip) => !look.asymmetricMatch(trip))
    expect(looks).toBeLessThanOrEqual(3)
    expect(rest.length).toBeLessThanOrEqual(2 * take.length + 3 * release.length + 1)
  })
}
