import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { describeFaults, type Stage } from '../faults/stage.ts'
import type { Shop } from '../stories/shop.ts'
import type { Use } from './contender.ts'
import { gather, mostAtOnce, type Crowd, type Heard } from './crowd.ts'
import { semaphoreKey, useTable } from './use.ts'

const permits = 5
const ttlMs = 3000
const patience = { timeout: 600_000 }

// Windows cannot stop a process where it stands
describe.skipIf(process.platform === 'win32')('thirty-two contenders in four processes', () => {
  describeFaults(specs, { withProcesses: true })
})

function specs(stage: Stage): void {
  let shop: Shop
  let crowd: Crowd | undefined

  beforeEach(async () => {
    shop = await stage.shop()
    await shop.create(useTable, ['id', 'fence_code'])
    for (let id = 0; id < 40; id += 1) await shop.add(undefined, useTable, { id, fence_code: '0' })
  })
  afterEach(async () => {
    await crowd?.end()
    await shop.drop(useTable)
  })

  const contend = async (count: number, together?: number): Promise<Crowd> => {
    const { engine, name } = stage
    const plan = { engine: name, url: engine.server.url, processes: 4, contenders: 8, permits: count, ttlMs }
    return (crowd = await gather({ ...plan, ...(together !== undefined && { together }) }))
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
    async () => {
      const all = await contend(permits)
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
      await expectAllThere()
    },
  )

  test(
    'it is the semaphore that keeps them apart: with more permits, more of them work at a time',
    patience,
    async () => {
      const all = await contend(32, permits + 1)
      await until(() => mostAtOnce(all.heard) > permits, 'more than five at a time')
      await all.stop()
      expect(all.failures).toEqual([])
    },
  )

  /** No permit is lost: all of them can be had once the leases of the dead have ended, and no more. */
  async function expectAllThere(): Promise<void> {
    const semaphore = shop.locks.semaphore(semaphoreKey, { permits })
    const wait = { timeoutMs: patience.timeout / 4 }
    const held = await Promise.all(Array.from({ length: permits }, () => semaphore.acquire({ wait })))
    expect(held.map(({ slot }) => slot).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
    expect(await semaphore.tryAcquire()).toBeNull()
    await Promise.all(held.map((permit) => permit.release()))
  }
}
