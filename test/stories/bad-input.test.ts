import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { LockError, LockUsageError } from '../../src/core/errors.ts'
import type { RowQuery } from '../../src/locks/rows/query.ts'
import { describeEngines } from '../engines/use.ts'
import { engines, loadDriver } from './drivers.ts'
import { startRival, wish, type Rival } from './rival.ts'
import type { Driver, Shop } from './shop.ts'
import { account, closeOut, codes, nothingChanged, nothingLeft, openAccounts, post } from './two-accounts.ts'

const noTimes = [-1, 0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]

const noSelects: readonly string[] = [
  '',
  'UPDATE account SET balance = 0',
  'DELETE FROM account',
  'WITH gone AS (DELETE FROM account RETURNING id) SELECT id FROM gone',
  'SELECT id FROM account; DELETE FROM account',
  'selection',
]

describeEngines(
  (context) => {
    let driver: Driver
    let shop: Shop
    let others: Shop
    let rival: Rival | undefined
    beforeAll(async () => {
      driver = await loadDriver(context.name)
      others = await driver.connect(context.engine.server.url, 2)
    })
    beforeEach(async () => {
      shop = await driver.connect(context.engine.server.url, 1)
      await openAccounts(others)
    })
    afterEach(async () => {
      await rival?.leave()
      rival = undefined
      await nothingChanged(others)
      await shop.close()
      await closeOut(others, context.engine)
    })
    afterAll(() => others.close())

    /** The pool's only connection is free and works. */
    const expectUsable = async (): Promise<void> => {
      await nothingLeft(others, context.engine)
      const rows = await shop.locks.transaction((tx) => shop.locks.rows(tx, account(1, 2)))
      expect(rows).toHaveLength(2)
    }
    const expectUsageError = async (call: Promise<unknown>, field: string): Promise<void> => {
      const error = await call.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({ field, code: 'LOCK_USAGE', isRetryable: false })
      await expectUsable()
    }
    const inTransaction = (query: RowQuery, wait?: { readonly timeoutMs: number }): Promise<unknown> =>
      shop.locks.transaction(async (tx) => {
        await post(shop, tx, { code: 'undone', changes: { 2: -5 } })
        return shop.locks.rows(tx, query, wait === undefined ? {} : { wait })
      })

    describe.each(noTimes)('a lock timeout of %s ms', (timeoutMs) => {
      test('is refused for a transaction before it begins', async () => {
        let runs = 0
        const work = async (): Promise<void> => void (runs += 1)
        await expectUsageError(shop.locks.transaction(work, { lockTimeoutMs: timeoutMs }), 'lockTimeoutMs')
        expect(runs).toBe(0)
      })

      test('is refused for rows, and the transaction is rolled back', async () => {
        await expectUsageError(inTransaction(account(1), { timeoutMs }), 'wait.timeoutMs')
        expect(await codes(others)).toEqual([])
      })
    })

    test.each(noSelects)('as a query, %j is refused, and the transaction is rolled back', async (query) => {
      const error = await inTransaction(query).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LockError)
      expect(error).toMatchObject(driver.takesText ? { field: 'query' } : { isRetryable: false })
      await expectUsable()
    })

    test.for([
      'SELECT id FROM account WHERE id = 1 -- mine',
      '/* mine */ SELECT id FROM account WHERE id = 1',
    ])('a comment does not hide the lock: %s', async (text, { skip }) => {
      if (!driver.takesText) return skip('this engine locks by table and key only')
      rival = await startRival(others, text)
      await expect(wish(shop, { transaction: { lockTimeoutMs: 1000 } }).ended).rejects.toThrow(LockError)
    })

    test("a table that does not exist is the driver's own error, and the transaction is rolled back", async ({
      skip,
    }) => {
      if (!driver.refusesUnknownTable) return skip('a collection that does not exist is empty')
      const error = await inTransaction({ table: 'nowhere', key: { id: 1 } }).catch(
        (reason: unknown) => reason,
      )
      expect(error).not.toBeInstanceOf(LockError)
      expect(error).toSatisfy(driver.isOwnError)
      await expectUsable()
    })

    test('a closed pool is an error, and the work is not run', async ({ skip }) => {
      if (!driver.canBeClosed) return skip('there is nothing to close')
      const closed = await driver.connect(context.engine.server.url, 1)
      await closed.close()
      let runs = 0
      const call = closed.locks.transaction(async () => void (runs += 1))
      await expect(call).rejects.toThrow(/clos|end|not open|connect/i)
      expect(runs).toBe(0)
    })

    test('a signal that is aborted before gives its reason, and the work is not run', async () => {
      let runs = 0
      const reason = new Error('changed my mind')
      const work = async (): Promise<void> => void (runs += 1)
      await expect(shop.locks.transaction(work, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      expect(runs).toBe(0)
      await expectUsable()
    })

    test('a signal that is aborted during the wait gives its reason while the other still holds the lock', async () => {
      rival = await startRival(others)
      const abort = new AbortController()
      const reason = new Error('changed my mind')
      const wanted = wish(shop, { transaction: { signal: abort.signal } })
      await wanted.untilWaiting(driver, context.engine)
      abort.abort(reason)
      await expect(wanted.ended).rejects.toBe(reason)
      await rival.leave()
      await expectUsable()
    })
  },
  { only: engines },
)
