import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { LockError, RetryableTransactionError } from '../../src/core/errors.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { describeEngines } from '../engines/use.ts'
import { loadDriver } from './drivers.ts'
import { gate } from '../entries/stage.ts'
import { meetingOf } from './meeting.ts'
import { account, balances, closeOut, codes, openAccounts, post, untilWaiting } from './two-accounts.ts'
import type { Driver, Shop } from './shop.ts'

describeEngines(
  (context) => {
    let driver: Driver
    let shop: Shop
    beforeAll(async () => {
      driver = await loadDriver(context.name)
      shop = await driver.connect(context.engine.server.url, 2)
    })
    beforeEach(() => openAccounts(shop))
    afterEach(() => closeOut(shop, context.engine))
    afterAll(() => shop.close())

    /** How a transaction takes the row of an account: with Holdfast, or with a statement of its own. */
    const ways: Readonly<Record<string, (tx: unknown, id: number) => Promise<unknown>>> = {
      'locks.rows': (tx, id) => shop.locks.rows(tx, account(id)),
      'the statements of the application': (tx, id) => shop.change(tx, account(id), { version: 7 }),
    }

    /** Two transfers that take the two accounts in opposite order; each has its first before one wants its second. */
    const cross = async (way: string, options: TransactionOptions): Promise<Crossing> => {
      const [bothHaveOne, oneIsThrough] = [meetingOf(2), gate()]
      const runs = { there: 0, back: 0 }
      const errors: unknown[] = []
      let firstId = ''
      const take = (tx: unknown, id: number): Promise<unknown> =>
        (ways[way]?.(tx, id) ?? Promise.reject(new Error(way))).catch((error: unknown) => {
          errors.push(error)
          throw error
        })
      const pay = async (
        name: keyof typeof runs,
        [from, to]: readonly [number, number],
        wait: (tx: unknown) => unknown,
      ): Promise<void> => {
        await shop.locks.transaction(async (tx) => {
          runs[name] += 1
          // or the one that is repeated may be faster than the one that was woken, and lose again
          if (runs[name] > 1) await oneIsThrough.opened
          await take(tx, from)
          if (runs[name] === 1) {
            await bothHaveOne.meet()
            await wait(tx)
          }
          await take(tx, to)
          const amount = name === 'there' ? 10 : 1
          await post(shop, tx, { code: name, changes: { [from]: -amount, [to]: amount } })
        }, options)
        oneIsThrough.open()
      }
      const outcomes = await Promise.allSettled([
        pay('there', [1, 2], (tx) => (firstId = shop.sessionId(tx))),
        pay('back', [2, 1], () => untilWaiting(context.engine, () => firstId)),
      ])
      return { outcomes, errors, runs: [runs.there, runs.back].toSorted((a, b) => a - b) }
    }

    for (const way of Object.keys(ways)) {
      test(`a deadlock by ${way} arrives as the one class that says: run it again`, async () => {
        const { outcomes, errors } = await cross(way, { attempts: 1 })
        const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
        expect(lost).toHaveLength(1)
        const error: unknown = lost[0]?.reason
        expect(error).toBeInstanceOf(RetryableTransactionError)
        expect(error).toMatchObject({ kind: 'deadlock', code: 'TX_RETRYABLE', isRetryable: true })
        const { cause } = error as RetryableTransactionError
        // locks.rows speaks in our classes already; the application's own statements throw what the driver throws
        expect(errors).toEqual([way === 'locks.rows' ? error : cause])
        expect(cause).not.toBeInstanceOf(LockError)
        expect(driver.isOwnError(cause)).toBe(true)
        const isThereLost = outcomes[0]?.status === 'rejected'
        expect(await codes(shop)).toEqual([isThereLost ? 'back' : 'there'])
        expect(await balances(shop)).toEqual(isThereLost ? [101, 99] : [90, 110])
      })

      test(`after a deadlock by ${way} both transfers are made once, the victim's at its second run`, async () => {
        const { outcomes, errors, runs } = await cross(way, {})
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
        expect(errors).toHaveLength(1)
        expect(runs).toEqual([1, 2])
        expect(await codes(shop)).toEqual(['back', 'there'])
        expect(await balances(shop)).toEqual([91, 109])
      })
    }
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)

interface Crossing {
  readonly outcomes: readonly PromiseSettledResult<void>[]
  /** What the locks and statements inside of the transactions rejected with. */
  readonly errors: readonly unknown[]
  /** How often the two ran, the smaller number first. */
  readonly runs: readonly number[]
}
