import { setImmediate as turn } from 'node:timers/promises'

import type { Wait } from '../../src/core/request.ts'
import type { RowQuery } from '../../src/locks/rows/query.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import type { Engine } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import { meetingOf } from './meeting.ts'
import type { Driver, Shop } from './shop.ts'
import { account, untilWaiting } from './two-accounts.ts'

/** A transaction of somebody else that holds account 1 until it is told to end. */
export interface Rival {
  /** Ends it; asked again, it gives the same. */
  readonly leave: () => Promise<void>
}

export async function startRival({ locks }: Shop, query: RowQuery = account(1)): Promise<Rival> {
  const hasIt = meetingOf(2)
  const mayGo = meetingOf(2)
  const transaction = locks.transaction(async (tx) => {
    await locks.rows(tx, query)
    await hasIt.meet()
    await mayGo.meet()
  })
  await Promise.race([hasIt.meet(), transaction])
  let left: Promise<void> | undefined
  return {
    leave: () => {
      if (left === undefined) void mayGo.meet()
      return (left ??= transaction)
    },
  }
}

/** A transaction that wants account 1, which somebody else has. */
export interface Wish {
  readonly ended: Promise<void>
  /** There once the transaction has begun. */
  readonly sessionId: () => string
  /** Waits until it is seen waiting: by the server, or by Holdfast that repeats it. */
  readonly untilWaiting: (driver: Driver, engine: Engine) => Promise<void>
}

export interface WishOptions {
  readonly transaction?: TransactionOptions
  readonly rows?: { readonly wait?: Exclude<Wait, 'skip'> }
}

export function wish({ locks, sessionId }: Shop, options: WishOptions = {}): Wish {
  let id = ''
  let repeats = 0
  const onRetry = (): void => void (repeats += 1)
  const work = async (tx: unknown): Promise<void> => {
    id = sessionId(tx)
    await locks.rows(tx, account(1), options.rows)
  }
  const ended = locks.transaction(work, { onRetry, ...options.transaction })
  ended.catch(() => {}) // whoever started it looks at it later
  const waiting: Readonly<Record<Driver['waits'], (engine: Engine) => Promise<unknown>>> = {
    server: async (engine) => {
      await until(() => id !== '', 'the beginning of the transaction')
      await untilWaiting(engine, () => id)
    },
    transaction: () => until(() => repeats > 1, 'a transaction that is repeated'),
    // a BEGIN that is refused tells nobody; it was sent before this process had its next turn
    begin: () => turn(),
  }
  return {
    ended,
    sessionId: () => id,
    untilWaiting: async ({ waits }, engine) => void (await waiting[waits](engine)),
  }
}
