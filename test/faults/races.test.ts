import { expect, test } from 'vitest'

import { nothingLeft } from '../stories/two-accounts.ts'
import { loadDriver } from '../stories/drivers.ts'
import { meetingOf } from '../stories/meeting.ts'
import type { Shop } from '../stories/shop.ts'
import { until } from '../engines/use.ts'
import { randomFrom } from './random.ts'
import { createArena, race, ways, withoutLock, type Arena, type Track } from './race.ts'
import { describeFaults, rowNames, type Stage } from './stage.ts'

const races = 1000
const flows = 20
const poolSize = 3
const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)

describeFaults((stage) => {
  test(
    `${races} random races of grants, aborts and timeouts leave nothing behind`,
    { timeout: 600_000 },
    async () => {
      const shops = [await stage.shop(poolSize), await stage.shop(poolSize)]
      const arena = createArena(['a', 'b', 'c'].map((part) => stage.key(part)))
      try {
        await runAll(shops.map((shop) => ({ shop, arena, ways })))
        expect(arena.most).toBe(1)
        expect(arena.unexpected).toEqual([])
        const { granted, refused, aborted } = arena.tally
        for (const count of [granted, refused, aborted]) expect(count).toBeGreaterThan(races / 50)
        for (const shop of shops) await isWhole(stage, shop, arena)
      } catch (error) {
        throw new Error(`HOLDFAST_SEED=${seed} ${JSON.stringify(arena.tally)}`, { cause: error })
      }
    },
  )

  test('without a lock, the same races see two inside at once', async () => {
    const arena = createArena([stage.key()])
    await runAll([{ shop: await stage.shop(), arena, ways: [withoutLock] }])
    expect(arena.most).toBeGreaterThan(1)
  })
})

async function runAll(tracks: readonly Track[]): Promise<void> {
  const flow = async (index: number): Promise<void> => {
    const random = randomFrom(seed + index)
    const track = tracks[index % tracks.length]
    for (let round = races / flows; track !== undefined && round > 0; round -= 1) await race(track, random)
  }
  await Promise.all(Array.from({ length: flows }, (_, index) => flow(index)))
}

/** Nothing is held, every lock can be had at once, and every connection of the pool works. */
async function isWhole(stage: Stage, shop: Shop, { keys }: Arena): Promise<void> {
  await nothingLeft(shop, stage.engine)
  const rows = keys.flatMap((key) => [rowNames.lease(key), rowNames.acquire(key)])
  for (const name of rows) {
    const isFree = async (): Promise<boolean> => ((await stage.leaseOf(name))?.owner ?? null) === null
    await until(isFree, `a free lease ${name}`)
  }
  const { locks } = shop
  for (const key of keys) {
    expect(await locks.tryLock(key, async () => 'in')).toEqual({ acquired: true, value: 'in' })
    await (await locks.acquire(key, { wait: 'nowait' })).release()
    await (await locks.lease(key, { wait: 'nowait' })).release()
  }
  // where BEGIN takes the one write lock, no two can be open
  const { waits } = await loadDriver(stage.name)
  const together = waits === 'begin' ? 1 : poolSize
  const { meet } = meetingOf(together)
  await Promise.all(Array.from({ length: together }, () => locks.transaction(async () => meet())))
}
