import { afterEach, expect, test } from 'vitest'

import type { Coordinator } from '../../src/coordinator.ts'
import type { Skip } from '../engines/extra-server.ts'
import { until } from '../engines/until.ts'
import type { Use } from './contender.ts'
import { gather, mostAtOnce, outOfOrder, type Crowd, type CrowdPlan, type Heard } from './crowd.ts'
import { semaphoreKey } from './use.ts'

const permits = 5
const patience = { timeout: 600_000 }

/** Where contenders meet, and locks of the test's own there. */
export interface Place {
  readonly engine: string
  readonly url: string
  readonly locks: Pick<Coordinator, 'semaphore'>
}

/** What thirty-two contenders in four processes have to keep to. */
export function contention(place: (skip: Skip) => Place | Promise<Place>): void {
  let crowd: Crowd | undefined
  afterEach(() => crowd?.end())

  const contend = async (
    skip: Skip,
    terms: Pick<CrowdPlan, 'permits' | 'ttlMs' | 'together'>,
  ): Promise<Crowd> => {
    const { engine, url } = await place(skip)
    return (crowd = await gather({ engine, url, processes: 4, contenders: 8, ...terms }))
  }
  const uses = (all: Crowd): readonly Use[] => all.heard.flatMap((one) => ('in' in one ? [one.in] : []))
  const untilUsed = async (all: Crowd, more: number): Promise<void> => {
    const before = uses(all).length
    await until(() => uses(all).length >= before + more || all.failures.length > 0, `${more} more grants`)
    expect(all.failures).toEqual([])
  }
  /** Kills a process that has a permit in use. */
  const killHolder = async (all: Crowd): Promise<void> => {
    await until(() => all.current() !== undefined, 'a permit in use')
    const { by } = all.current() ?? { by: '' }
    return by === '' ? killHolder(all) : all.kill(by)
  }
  /** Stops a process with a permit in use until another has its slot, and sees that it knows so when it goes on. */
  const stopHolder = async (all: Crowd): Promise<void> => {
    const { use, wake } = await all.freeze()
    const isTakenOver = ({ slot, fence }: Use): boolean => slot === use.slot && fence > use.fence
    await until(() => uses(all).some(isTakenOver), 'another with its slot')
    wake()
    const endOf = (): Heard | undefined => all.heard.find((one) => 'out' in one && one.out === use.owner)
    await until(() => endOf() !== undefined, 'word of the woken process')
    expect(endOf()).toEqual({ out: use.owner, isConfirmed: false })
  }

  test(
    'have never more than five permits at a time, although some of them are killed or stopped',
    patience,
    async ({ skip }) => {
      const all = await contend(skip, { permits, ttlMs: 3000 })
      await untilUsed(all, 40)
      for (let kills = 0; kills < 3; kills += 1) {
        await killHolder(all)
        await all.start()
        await untilUsed(all, 20)
      }
      await stopHolder(all)
      await untilUsed(all, 20)
      await all.stop()
      expect(all.failures).toEqual([])
      expect(Math.max(...uses(all).map(({ slot }) => slot))).toBeLessThan(permits)
      expect(mostAtOnce(all.heard)).toBeLessThanOrEqual(permits)
      expect(outOfOrder(all.heard)).toEqual([])
      await expectAllThere((await place(skip)).locks)
    },
  )

  test(
    'it is the semaphore that keeps them apart: with more permits, more of them work at a time',
    patience,
    async ({ skip }) => {
      // nobody is killed or stopped: only what is lost by time would keep them from meeting
      const all = await contend(skip, { permits: 32, ttlMs: patience.timeout, together: permits + 1 })
      await until(() => mostAtOnce(all.heard) > permits, 'more than five at a time')
      await all.stop()
      expect(all.failures).toEqual([])
    },
  )
}

/** No permit is lost: all of them can be had once the leases of the dead have ended, and no more. */
async function expectAllThere(locks: Place['locks']): Promise<void> {
  const semaphore = locks.semaphore(semaphoreKey, { permits })
  const wait = { timeoutMs: patience.timeout / 4 }
  const held = await Promise.all(Array.from({ length: permits }, () => semaphore.acquire({ wait })))
  expect(held.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
  expect(await semaphore.tryAcquire()).toBeNull()
  await Promise.all(held.map((permit) => permit.release()))
}
