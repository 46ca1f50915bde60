import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import type { RetryableKind } from '../../src/core/error-kind.ts'
import { RetryableTransactionError } from '../../src/core/errors.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { loadDriver } from './drivers.ts'
import { meetingOf } from './meeting.ts'
import type { Driver, Shop } from './shop.ts'
import { account, balances, closeOut, codes, openAccounts, post } from './two-accounts.ts'

/** Two transactions that look at both accounts; the quick one writes and commits before the slow one writes. */
interface Conflict {
  readonly title: string
  readonly engines: readonly string[]
  readonly kind: RetryableKind
  readonly options: TransactionOptions
  /** The accounts that they write. */
  readonly quick: number
  readonly slow: number
}

const conflicts: readonly Conflict[] = [
  {
    title: 'a write to a row that has changed since the transaction read it',
    engines: ['duckdb', 'mongodb'],
    kind: 'write-conflict',
    options: {},
    quick: 1,
    slow: 1,
  },
  {
    title: 'a write to a row that has changed since the snapshot',
    engines: ['postgres'],
    kind: 'serialization',
    options: { isolation: 'repeatable read' },
    quick: 1,
    slow: 1,
  },
  {
    title: 'two transactions that each write what the other has read',
    engines: ['postgres'],
    kind: 'serialization',
    options: { isolation: 'serializable' },
    quick: 2,
    slow: 1,
  },
]

for (const conflict of conflicts) {
  describe(conflict.title, () => {
    describeEngines((context) => specs(conflict, context), { only: conflict.engines })
  })
}

function specs({ kind, options, quick, slow }: Conflict, context: EngineContext): void {
  let driver: Driver
  let shop: Shop
  beforeAll(async () => {
    driver = await loadDriver(context.name)
    shop = await driver.connect(context.engine.server.url, 2)
  })
  beforeEach(() => openAccounts(shop))
  afterEach(() => closeOut(shop, context.engine))
  afterAll(() => shop.close())

  const takeOne = (
    code: string,
    id: number,
    more: TransactionOptions & { meanwhile?: () => Promise<void> },
  ): Promise<void> => {
    const { meanwhile, ...rest } = more
    return shop.locks.transaction(
      async (tx) => {
        await shop.find(tx, account(1, 2))
        await meanwhile?.()
        await post(shop, tx, { code, changes: { [id]: code === 'slow' ? -10 : -1 } })
      },
      { ...options, ...rest },
    )
  }

  /** How the slow one ended, and how often it ran. */
  const collide = async (
    more: TransactionOptions,
  ): Promise<{ outcome: PromiseSettledResult<void>; runs: number }> => {
    const slowHasLooked = meetingOf(2)
    const quickIsDone = meetingOf(2)
    let runs = 0
    const meanwhile = async (): Promise<void> => {
      runs += 1
      if (runs > 1) return
      await slowHasLooked.meet()
      await quickIsDone.meet()
    }
    const ending = Promise.allSettled([takeOne('slow', slow, { ...more, meanwhile })])
    await slowHasLooked.meet()
    await takeOne('quick', quick, {})
    await quickIsDone.meet()
    const [outcome] = await ending
    return { outcome, runs }
  }

  const left = [1, 2].map((id) => 100 - (id === quick ? 1 : 0))

  test('arrives as the one class that says: run it again', async () => {
    const { outcome, runs } = await collide({ attempts: 1 })
    if (outcome.status === 'fulfilled') throw new Error('there was no conflict')
    expect(outcome.reason).toBeInstanceOf(RetryableTransactionError)
    expect(outcome.reason).toMatchObject({ kind, code: 'TX_RETRYABLE', isRetryable: true })
    expect(driver.isOwnError((outcome.reason as Error).cause)).toBe(true)
    expect(runs).toBe(1)
    expect(await codes(shop)).toEqual(['quick'])
    expect(await balances(shop)).toEqual(left)
  })

  test('ends with both effects applied once', async () => {
    const { outcome, runs } = await collide({})
    expect(outcome.status).toBe('fulfilled')
    expect(runs).toBe(2)
    expect(await codes(shop)).toEqual(['quick', 'slow'])
    expect(await balances(shop)).toEqual(
      left.map((balance, index) => balance - (index + 1 === slow ? 10 : 0)),
    )
  })
}
