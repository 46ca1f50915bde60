import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { describeEngines } from '../engines/use.ts'
import { engines, loadDriver } from './drivers.ts'
import { startRival, wish, type Rival } from './rival.ts'
import type { Driver, Shop } from './shop.ts'
import {
  account,
  balances,
  closeOut,
  codes,
  endSession,
  leftovers,
  nothingLeft,
  openAccounts,
  post,
} from './two-accounts.ts'

describeEngines(
  (context) => {
    let driver: Driver
    let shop: Shop
    let others: Shop
    let rival: Rival | undefined
    let fresh: unknown
    let tuned: unknown
    beforeAll(async () => {
      driver = await loadDriver(context.name)
      others = await driver.connect(context.engine.server.url, 2)
    })
    beforeEach(async () => {
      shop = await driver.connect(context.engine.server.url, 1)
      await openAccounts(others)
      fresh = await shop.settings()
      await shop.tune()
      tuned = await shop.settings()
    })
    afterEach(async () => {
      await rival?.leave()
      rival = undefined
      await shop.close()
      await closeOut(others, context.engine)
    })
    afterAll(() => others.close())

    /** The pool's only connection works, and is as the application had set it. */
    const expectSame = async (): Promise<void> => {
      await nothingLeft(others, context.engine)
      expect(await shop.settings()).toEqual(tuned)
      await expectUsable()
    }
    /** The pool's only connection works; it may be a new one. */
    const expectClean = async (): Promise<void> => {
      await nothingLeft(others, context.engine)
      expect([tuned, fresh]).toContainEqual(await shop.settings())
      await expectUsable()
    }
    const expectUsable = async (): Promise<void> => {
      const before = await balances(others)
      await shop.locks.transaction(async (tx) => {
        await shop.locks.rows(tx, account(1))
        await post(shop, tx, { code: 'later', changes: { 1: 1 } })
      })
      expect(await balances(others)).toEqual(before.map((balance, index) => balance + (index === 0 ? 1 : 0)))
    }

    test('while a transaction holds a row, the server shows it', async () => {
      rival = await startRival(others)
      expect(await leftovers(others, context.engine)).not.toEqual([])
      await rival.leave()
      await expectSame()
    })

    test('a transaction that succeeds leaves no lock and no setting', async () => {
      await shop.locks.transaction(
        async (tx) => {
          await shop.locks.rows(tx, account(1), { wait: { timeoutMs: 1500 } })
          await post(shop, tx, { code: 'done', changes: { 1: -5 } })
        },
        { lockTimeoutMs: 2500, isolation: 'read committed' },
      )
      expect(await codes(others)).toEqual(['done'])
      await expectSame()
    })

    test('a transaction whose work throws leaves no lock, no setting and no change', async () => {
      const mistake = new Error('a mistake of the application')
      const failing = shop.locks.transaction(
        async (tx) => {
          await shop.locks.rows(tx, account(1), { wait: { timeoutMs: 1500 } })
          await post(shop, tx, { code: 'undone', changes: { 1: -5 } })
          throw mistake
        },
        { lockTimeoutMs: 2500, isolation: 'read committed' },
      )
      await expect(failing).rejects.toBe(mistake)
      expect(await codes(others)).toEqual([])
      await expectSame()
    })

    test('a lock timeout of the transaction leaves no lock and no setting', async () => {
      rival = await startRival(others)
      const late = wish(shop, { transaction: { lockTimeoutMs: 1000 } })
      await expect(late.ended).rejects.toBeInstanceOf(LockTimeoutError)
      await rival.leave()
      await expectSame()
    })

    test('a timeout of one lock leaves no lock and no setting', async () => {
      rival = await startRival(others)
      const late = wish(shop, { transaction: { lockTimeoutMs: 2000 }, rows: { wait: { timeoutMs: 1000 } } })
      await expect(late.ended).rejects.toBeInstanceOf(LockTimeoutError)
      await rival.leave()
      await expectSame()
    })

    test('a wait that is aborted leaves no lock and no setting', async () => {
      rival = await startRival(others)
      const abort = new AbortController()
      const wanted = wish(shop, { transaction: { lockTimeoutMs: 20_000, signal: abort.signal } })
      await wanted.untilWaiting(driver, context.engine)
      abort.abort(new Error('not wanted any more'))
      await expect(wanted.ended).rejects.toThrow('not wanted any more')
      await rival.leave()
      await expectClean()
    })

    test('work that is aborted leaves no lock, no setting and no change', async () => {
      const abort = new AbortController()
      const endless = shop.locks.transaction(
        async (tx) => {
          await shop.locks.rows(tx, account(1))
          await post(shop, tx, { code: 'undone', changes: { 1: -5 } })
          abort.abort(new Error('not wanted any more'))
          await new Promise(() => {})
        },
        { lockTimeoutMs: 20_000, signal: abort.signal },
      )
      await expect(endless).rejects.toThrow('not wanted any more')
      await expectClean()
      expect(await codes(others)).toEqual(['later'])
    })

    test('a statement that the server is told to end leaves no lock and no setting', async ({ skip }) => {
      const { killStatement } = driver
      if (killStatement === undefined) return skip('nobody can end a statement of this engine from outside')
      rival = await startRival(others)
      const wanted = wish(shop, { transaction: { lockTimeoutMs: 20_000, attempts: 1 } })
      await wanted.untilWaiting(driver, context.engine)
      const admin = await context.engine.open()
      await admin.run(killStatement(wanted.sessionId()))
      await admin.close()
      await expect(wanted.ended).rejects.toSatisfy(driver.isOwnError)
      await rival.leave()
      await expectClean()
    })

    test('a connection that the server ends leaves no lock, and the pool opens another', async ({ skip }) => {
      if (driver.waits !== 'server')
        return skip('no connection of this engine waits where the server could end it')
      rival = await startRival(others)
      const wanted = wish(shop, { transaction: { lockTimeoutMs: 20_000, attempts: 1 } })
      await wanted.untilWaiting(driver, context.engine)
      await endSession(context.engine, wanted.sessionId())
      await expect(wanted.ended).rejects.toThrow(Error)
      await rival.leave()
      await expectClean()
    })
  },
  { only: engines },
)
