import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { hireCrew, type Crew } from './crew.ts'
import { engines, loadDriver } from './drivers.ts'
import { cap, openStorage, storedByUser, type Upload } from './quota.ts'
import type { Shop } from './shop.ts'
import { nothingLeft } from './two-accounts.ts'

const patience = { timeout: 600_000 }
const users = 8

describeEngines(
  (context) => {
    let shop: Shop
    let crew: Crew
    beforeAll(async () => {
      const { url } = context.engine.server
      shop = await (await loadDriver(context.name)).connect(url, 2)
      crew = await hireCrew(context.name, url, 64)
    })
    afterAll(async () => {
      await crew.close()
      await shop.close()
    })
    afterEach(async () => {
      await nothingLeft(shop, context.engine)
      await shop.drop('upload')
    })

    test('64 uploads of 8 users at once never pass a cap, in any of three rounds', patience, async () => {
      for (const round of [1, 2, 3]) {
        await openStorage(shop)
        const tasks = uploads(64, round)
        const outcomes = await crew.run(tasks.map((one) => ({ story: 'upload', work: [one] })))
        // three of 30 fit, and a fourth does not
        expect([...(await storedByUser(shop)).values()]).toEqual(Array.from({ length: users }, () => 90))
        expect(outcomes.filter(([stored]) => stored === true)).toHaveLength(users * 3)
        if (round < 3) await shop.drop('upload')
      }
    })

    test('without the lock, every user passes the cap', async () => {
      await openStorage(shop)
      const tasks = uploads(64, 0)
      await crew.run(
        tasks.map((one) => ({ story: 'upload', work: [one] })),
        { withoutLock: true },
      )
      const stored = [...(await storedByUser(shop)).values()]
      expect(stored).toHaveLength(users)
      expect(Math.min(...stored)).toBeGreaterThan(cap)
    })
  },
  { only: engines },
)

/** One after the other for each of the users in turn, so that each user's come from every process. */
function uploads(count: number, round: number): readonly Upload[] {
  return Array.from({ length: count }, (_, index) => ({
    code: `${round}-${index}`,
    user: Math.floor(index / 2) % users,
    size: 30,
  }))
}
