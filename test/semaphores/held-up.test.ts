import { expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import { permitNames } from '../../src/core/permit-name.ts'
import type { Permit } from '../../src/locks/semaphore/semaphore.ts'
import { sql } from '../../src/dialects/sql.ts'
import { until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeFaults, type Stage } from '../faults/stage.ts'
import { briefly } from '../leases/briefly.ts'
import type { Shop } from '../stories/shop.ts'

// elsewhere nobody can lock one row
describeFaults(specs, { only: ['postgres', 'mysql', 'mariadb'] })

function specs(stage: Stage): void {
  const doorOf = (key: readonly (string | number)[]): string => permitNames(chosenLeaseName(key)).door
  const untilAtDoor = (door: string): Promise<void> =>
    until(async () => typeof (await stage.leaseOf(door))?.owner === 'string', 'somebody at the door')
  /** Waits until somebody is at the door, and keeps it from being left until the end of the work. */
  const withDoorStuck = async (
    key: readonly (string | number)[],
    work: () => Promise<void>,
  ): Promise<void> => {
    const door = doorOf(key)
    await untilAtDoor(door)
    const session = await stage.engine.open()
    try {
      await session.run(sql('BEGIN'))
      await session.run(sql(`SELECT name FROM _leases WHERE name = '${door}' FOR UPDATE`))
      await work()
    } finally {
      await session.run(sql('ROLLBACK'))
      await session.close()
    }
  }

  test('a permit is not lost by the time it is had, however long it takes to leave the door', async () => {
    const { locks } = await stage.shop()
    const key = stage.key()
    const semaphore = locks.semaphore(key, { permits: 1, ttlMs: 3000 })
    const held = await semaphore.acquire()
    const next = semaphore.acquire()
    await withDoorStuck(key, async () => {
      await held.release()
      const permit = await next
      permit.throwIfLost()
      await permit.release()
    })
  })

  test('a wait ends in its time, however long it takes to leave the door', async () => {
    const { locks } = await stage.shop()
    const key = stage.key()
    const semaphore = locks.semaphore(key, { permits: 1 })
    const held = await semaphore.acquire()
    const late = caught(semaphore.acquire({ wait: { timeoutMs: 4000 } }))
    // the door is stuck until it has ended
    await withDoorStuck(key, async () => expect(await late).toBeInstanceOf(LockTimeoutError))
    await held.release()
  })

  /** Works under a transaction that is open for the holder of the permit. */
  const withOpenUnder = async ({ locks }: Shop, permit: Permit, work: () => Promise<void>): Promise<void> => {
    let isOpen = false
    let end = (): void => {}
    const over = new Promise<void>((resolve) => (end = resolve))
    const open = locks.fenced(permit, async () => {
      isOpen = true
      await over
    })
    await until(() => isOpen, 'an open transaction')
    await work().finally(end)
    await caught(open)
  }

  // elsewhere the release waits for the transaction, too
  test.runIf(stage.name === 'postgres')(
    'a slot that was released under an open transaction keeps nobody from another one',
    async () => {
      const [mine, others] = [await stage.shop(), await stage.shop()]
      const key = stage.key()
      const semaphore = mine.locks.semaphore(key, { permits: 2 })
      const [first, second] = [await semaphore.acquire(), await semaphore.acquire()]
      await withOpenUnder(mine, first, async () => {
        await first.release()
        const next = others.locks.semaphore(key, { permits: 2 }).acquire({ wait: { timeoutMs: 20_000 } })
        await second.release()
        const permit = await next
        expect(permit.slot).toBe(second.slot)
        await permit.release()
        for (let tries = 0; tries < 4; tries += 1) {
          const tried = await others.locks.semaphore(key, { permits: 2 }).tryAcquire()
          expect(tried?.slot).toBe(second.slot)
          await tried?.release()
        }
      })
    },
  )

  test('a transaction under a permit that has ended takes no more connections from those who ask, the oftener they do', async () => {
    const [mine, others] = [await stage.shop(), await stage.shop(8)]
    const key = stage.key()
    const ended = await briefly((ttlMs) =>
      mine.locks.semaphore(key, { permits: 1, ttlMs, renew: false }).acquire(),
    )
    await withOpenUnder(mine, ended, async () => {
      await until(() => ended.remainingMs() === 0, 'the end of the permit')
      const semaphore = others.locks.semaphore(key, { permits: 1, ttlMs: 10_000 })
      for (let tries = 0; tries < 5; tries += 1) expect(await semaphore.tryAcquire()).toBeNull()
      expect(await takeovers()).toBeLessThanOrEqual(2)
    })
  })

  test('a permit that is granted late goes to the one who has asked for it, and is not asked for again', async () => {
    const { locks } = await stage.shop()
    const key = stage.key()
    const semaphore = locks.semaphore(key, { permits: 1 })
    await (await semaphore.acquire()).release()
    const slot = permitNames(chosenLeaseName(key)).slot(0)
    const session = await stage.engine.open()
    // far ahead of the clock, so that it counts who has had the slot
    const fence = 9_000_000_000_000
    await session.run(sql(`UPDATE _leases SET fence = ${fence} WHERE name = '${slot}'`))
    await session.run(sql('BEGIN'))
    await session.run(sql(`SELECT name FROM _leases WHERE name = '${slot}' FOR UPDATE`))
    const asked = semaphore.acquire()
    await untilAtDoor(doorOf(key))
    await session.run(sql('ROLLBACK'))
    await session.close()
    const permit = await asked
    expect(permit.fence).toBe(fence + 1)
    await permit.release()
  })

  /** How many wait on the server to take a permit over. */
  const takeovers = async (): Promise<number> => {
    const session = await stage.engine.open()
    try {
      const [row] = await session.run(sql(takeoverCounts[stage.name] ?? takeoverCounts.mysql ?? ''))
      return Number(row?.waiting)
    } finally {
      await session.close()
    }
  }
}

const takeoverCounts: Readonly<Record<string, string>> = {
  postgres:
    "SELECT count(*) AS waiting FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'WITH seen%'",
  mysql:
    "SELECT count(*) AS waiting FROM information_schema.processlist WHERE info LIKE 'INSERT INTO _leases%'",
}
