import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { accounts, auditBank, openBank, openingBalance, type Transfer } from './bank.ts'
import { hireCrew, type Crew } from './crew.ts'
import { engines, loadDriver } from './drivers.ts'
import { openShowcase, salesByItem } from './last-item.ts'
import type { Shop } from './shop.ts'
import type { Outcomes, Task } from './shift.ts'
import { countStock, openStoreRoom } from './store-room.ts'
import { nothingLeft } from './two-accounts.ts'

const workers = Array.from({ length: 32 }, (_, index) => index)
const rounds = [1, 2, 3, 4, 5]
// engines that repeat the losers' transactions take a while on a busy machine
const patience = { timeout: 600_000 }

describeEngines(
  (context) => {
    let shop: Shop
    let crew: Crew
    beforeAll(async () => {
      const { url } = context.engine.server
      shop = await (await loadDriver(context.name)).connect(url, 2)
      crew = await hireCrew(context.name, url, workers.length)
    })
    afterAll(async () => {
      await crew.close()
      await shop.close()
    })
    afterEach(async () => {
      await nothingLeft(shop, context.engine)
      for (const table of ['account', 'entry', 'item', 'movement', 'single', 'sale']) await shop.drop(table)
    })

    test('the workers share the database with another process, where the engine lets one in', async () => {
      const { hasProcesses } = await loadDriver(context.name)
      expect(crew.processes).toBe(hasProcesses ? 2 : 1)
    })

    test(
      '32 workers transfer money at once, and every account is right to the last entry',
      patience,
      async () => {
        await openBank(shop)
        const tasks = workers.map((worker) => rounds.map((round) => randomTransfer(`${worker}-${round}`)))
        const outcomes = await crew.run(tasks.map((work) => ({ story: 'transfer', work })))
        const done = closed(tasks, outcomes)
        expect(await auditBank(shop, done)).toEqual([])
        expect(done.length, 'some transfers were made').toBeGreaterThan(0)
      },
    )

    test('without the lock, the same transfers lose money', async () => {
      await openBank(shop)
      const tasks = workers.map((worker) => [{ code: `${worker}-1`, from: 1, to: 2, amount: 10 }])
      const outcomes = await crew.run(
        tasks.map((work) => ({ story: 'transfer', work })),
        { withoutLock: true },
      )
      const done = closed(tasks, outcomes)
      expect(done, 'each found enough money on the account').toHaveLength(workers.length)
      expect(done.length * 10).toBeGreaterThan(openingBalance)
      expect(await auditBank(shop, done)).toContain('account 1 has 90, not -220')
    })

    test(
      '32 workers sell from one stock, and what is sold and what is left make up the stock',
      patience,
      async () => {
        await openStoreRoom(shop, 200)
        const tasks = workers.map((worker) =>
          rounds.map((round) => ({ code: `${worker}-${round}`, quantity: 1 + ((worker + round) % 3) })),
        )
        const outcomes = await crew.run(tasks.map((work) => ({ story: 'order', work })))
        const { left, sold, orders } = await countStock(shop)
        expect(sold + left).toBe(200)
        expect(left, 'the stock was too small for all').toBeLessThan(3)
        expect(left).toBeGreaterThanOrEqual(0)
        expect(orders).toEqual(
          closed(tasks, outcomes)
            .map(({ code }) => code)
            .toSorted(),
        )
      },
    )

    test('without the lock, more is sold than there is', async () => {
      await openStoreRoom(shop, 10)
      const tasks = workers.map((worker) => [{ code: `${worker}-1`, quantity: 1 }])
      await crew.run(
        tasks.map((work) => ({ story: 'order', work })),
        { withoutLock: true },
      )
      expect(await countStock(shop)).toMatchObject({ left: 9, sold: 32 })
    })

    test('of two users who buy the last item, one gets it, round after round', patience, async () => {
      await openShowcase(shop, rounds.length * 16)
      const outcomes = await crew.run(contests())
      expect(winners(outcomes)).toEqual(rounds.map(() => Array.from({ length: 16 }, () => 1)))
      expect([...(await salesByItem(shop)).values()]).toEqual(
        Array.from({ length: rounds.length * 16 }, () => 1),
      )
    })

    test('without the lock, both users get the last item', async () => {
      await openShowcase(shop, rounds.length * 16)
      const outcomes = await crew.run(contests(), { withoutLock: true })
      expect(winners(outcomes)).toEqual(rounds.map(() => Array.from({ length: 16 }, () => 2)))
    })
  },
  { only: engines },
)

function randomTransfer(code: string): Transfer {
  const from = pick(accounts)
  return {
    code,
    from,
    to: pick(accounts.filter((id) => id !== from)),
    amount: 1 + Math.floor(Math.random() * 60),
  }
}

function pick(ids: readonly number[]): number {
  return ids[Math.floor(Math.random() * ids.length)] ?? 0
}

/** Workers 2n and 2n + 1, of different processes where there are two, want the same item in each round. */
function contests(): readonly Task[] {
  return workers.map((buyer) => ({
    story: 'buy',
    work: rounds.map((round) => ({ buyer, item: (round - 1) * 16 + Math.floor(buyer / 2) + 1 })),
  }))
}

/** How many of each pair got the item, for each round. */
function winners(outcomes: Outcomes): readonly (readonly number[])[] {
  const got = (worker: number, round: number): number => Number(outcomes[worker]?.[round - 1] === true)
  const pairs = workers.filter((worker) => worker % 2 === 0)
  return rounds.map((round) => pairs.map((worker) => got(worker, round) + got(worker + 1, round)))
}

function closed<T>(tasks: readonly (readonly T[])[], outcomes: Outcomes): readonly T[] {
  return tasks.flatMap((work, worker) => work.filter((_, index) => outcomes[worker]?.[index] === true))
}
