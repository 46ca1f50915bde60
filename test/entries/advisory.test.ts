import { expect, test } from 'vitest'

import {
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  UnsupportedLockError,
} from '../../src/core/errors.ts'
import type { LockKey } from '../../src/core/key.ts'
import type { SqlStatement } from '../../src/core/statement.ts'
import type { Isolation } from '../../src/core/request.ts'
import type { WithLockOptions } from '../../src/locks/named/lock-options.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { until } from '../engines/use.ts'
import { caught, describeEntries, gate, type Stage } from './stage.ts'

describeEntries(specs)

/** The levels that an engine has; where the driver has no word for a level, there is the engine's own. */
const levels: Readonly<Record<string, readonly (Isolation | undefined)[]>> = {
  postgres: [undefined, 'read committed', 'repeatable read', 'serializable'],
  mysql: [undefined, 'read committed', 'repeatable read', 'serializable'],
  mariadb: [undefined, 'read committed', 'repeatable read', 'serializable'],
}

function specs(stage: Stage): void {
  const key = (name: string): LockKey => ['advisory specs', name]

  /** Holds a lock, after `first`, until it is told to end. */
  async function hold(
    name: LockKey,
    first: (tx: unknown) => Promise<unknown> = async () => {},
    options: WithLockOptions = {},
  ): Promise<{ readonly end: () => Promise<void> }> {
    const [began, ending] = [gate(), gate()]
    const ended = stage.entry.locks.withLock(
      name,
      async (tx) => {
        await first(tx)
        began.open()
        await ending.opened
      },
      options,
    )
    await Promise.race([began.opened, ended])
    return {
      end: () => {
        ending.open()
        return ended
      },
    }
  }

  test('gives the work a receipt and a signal', async () => {
    await stage.entry.locks.withLock(key('receipt'), async (_, held) => {
      expect(held.key).toEqual(key('receipt'))
      expect(held.receipt).toMatchObject({ dialect: stage.name, category: 'advisory', scope: 'transaction' })
      expect(held.receipt.statements.length).toBeGreaterThan(0)
      expect(held.signal.aborted).toBe(false)
    })
  })

  test.each(levels[stage.name] ?? [undefined])(
    'whoever waits sees what the last holder stored, at %s',
    async (isolation) => {
      const { locks, increment, read } = stage.entry
      const before = await stage.seen()
      const holder = await hold(key('fresh'), increment)
      const options = { ...(isolation && { isolation }) }
      const seen = locks.withLock(key('fresh'), (tx) => read(tx), options)
      seen.catch(() => {})
      await isNext(stage)
      await holder.end()
      expect(await seen).toBe(before + 1)
    },
  )

  test('one lock keeps out who asks for the same key, and nobody who asks for another', async () => {
    const { locks } = stage.entry
    const holder = await hold(key('mine'))
    expect(await locks.tryLock(key('mine'), async () => 'in')).toEqual({ acquired: false })
    // SQLite has one writer, whatever the key
    if (stage.name !== 'sqlite')
      expect(await locks.tryLock(key('yours'), async () => 'in')).toEqual({ acquired: true, value: 'in' })
    await holder.end()
    expect(await locks.tryLock(key('mine'), async () => 'in')).toEqual({ acquired: true, value: 'in' })
  })

  test('a wait is no longer than was asked', async () => {
    const { locks } = stage.entry
    const holder = await hold(key('late'))
    for (const timeoutMs of [300, 1200]) {
      const began = performance.now()
      const error = await caught(locks.withLock(key('late'), async () => {}, { wait: { timeoutMs } }))
      expect(error).toBeInstanceOf(LockTimeoutError)
      const waitedMs = performance.now() - began
      expect(waitedMs).toBeGreaterThan(timeoutMs - 20)
    }
    await holder.end()
  })

  test('a lock that is asked for without waiting is refused while another has it', async () => {
    const { locks } = stage.entry
    const holder = await hold(key('busy'))
    const error = await caught(locks.withLock(key('busy'), async () => {}, { wait: 'nowait' }))
    await holder.end()
    expect(error).toBeInstanceOf(LockNotAvailableError)
  })

  test('work that gives null is told from a lock that is busy', async () => {
    const { locks } = stage.entry
    expect(await locks.tryLock(key('null'), async () => null)).toEqual({ acquired: true, value: null })
  })

  test('a refusal that the work itself meets is not taken for a busy lock', async () => {
    const mine = new LockNotAvailableError('of the work')
    const work = stage.entry.locks.tryLock(key('own'), async () => {
      throw mine
    })
    expect(await caught(work)).toBe(mine)
  })

  test('the work that fails stores nothing and gives the lock back', async () => {
    const { locks, increment } = stage.entry
    const before = await stage.seen()
    const failing = locks.withLock(key('fails'), async (tx) => {
      await increment(tx)
      throw new Error('no')
    })
    expect(await caught(failing)).toMatchObject({ message: 'no' })
    expect(await stage.seen()).toBe(before)
    expect(await locks.tryLock(key('fails'), async () => 'in')).toEqual({ acquired: true, value: 'in' })
  })

  test('an aborted wait leaves nothing behind', async () => {
    const { locks } = stage.entry
    const holder = await hold(key('abort'))
    const controller = new AbortController()
    const reason = new Error('changed my mind')
    const waiting = locks.withLock(key('abort'), async () => 'in', { signal: controller.signal })
    waiting.catch(() => {})
    await isNext(stage)
    controller.abort(reason)
    expect(await caught(waiting)).toBe(reason)
    await holder.end()
    expect(await locks.tryLock(key('abort'), async () => 'in')).toEqual({ acquired: true, value: 'in' })
  })

  // A server that was asked to end a wait says so before it has: until then it gives the lock to whoever has gone.
  test.skipIf(waiters[stage.name] === undefined)(
    'an aborted wait is over in the server when the caller hears of it',
    async () => {
      const { locks } = stage.entry
      const observer = await stage.engine.open()
      const waiting = async (): Promise<number> => Number((await observer.run(waitersOf(stage)))[0]?.n)
      for (let round = 0; round < 20; round++) {
        const holder = await hold(key('gone'))
        const controller = new AbortController()
        const end = caught(locks.withLock(key('gone'), async () => 'in', { signal: controller.signal }))
        await until(async () => (await waiting()) === 1, 'somebody who waits for the named lock')
        controller.abort(new Error('changed my mind'))
        await end
        await holder.end()
        const next = await locks.tryLock(key('gone'), async () => 'in')
        expect([round, next]).toEqual([round, { acquired: true, value: 'in' }])
      }
      await observer.close()
    },
  )

  test('many locks are taken in one order, each once, and all are given back', async () => {
    const { locks } = stage.entry
    const [a, b] = [key('a'), key('b')]
    const rounds = Array.from({ length: 10 }, (_, round) => (round % 2 === 0 ? [a, b, a] : [b, a]))
    const counts = await Promise.all(
      rounds.map((keys) => locks.withLocks(keys, async (_, held) => held.receipts.length)),
    )
    expect(counts).toEqual(rounds.map(() => 2))
  })

  // on SQLite whoever has one lock has all
  test.skipIf(stage.name === 'sqlite')('of many locks none is kept when one of them is busy', async () => {
    const { locks } = stage.entry
    const holder = await hold(key('second'))
    const both = locks.withLocks([key('first'), key('second')], async () => {}, { wait: 'nowait' })
    expect(await caught(both)).toBeInstanceOf(LockNotAvailableError)
    expect(await locks.tryLock(key('first'), async () => 'in')).toEqual({ acquired: true, value: 'in' })
    await holder.end()
  })

  const joins = async (options: TransactionOptions): Promise<unknown> => {
    const { locks } = stage.entry
    const join = locks.transaction(async (tx) => {
      await locks.lock(tx, key('joined'))
      const other = await locks.tryLock(key('joined'), async () => 'in', { nested: 'join' }).catch(caughtAs)
      expect(other).toBeInstanceOf(LockUsageError)
      expect(await fromOutside(() => locks.tryLock(key('joined'), async () => 'in'))).toEqual({
        acquired: false,
      })
      return 'joined'
    }, options)
    const outcome = await join.catch(caughtAs)
    expect(await locks.tryLock(key('joined'), async () => 'in')).toEqual({ acquired: true, value: 'in' })
    return outcome
  }

  test('a lock joins a transaction that is under way, until that ends', async () => {
    expect(await joins(levels[stage.name] === undefined ? {} : { isolation: 'read committed' })).toBe(
      'joined',
    )
  })

  test.skipIf(levels[stage.name] === undefined)(
    'a lock does not join a transaction that would go on reading what was there before',
    async () => {
      expect(await joins({ isolation: 'repeatable read' })).toBeInstanceOf(UnsupportedLockError)
    },
  )

  test('the same chain of calls is refused the lock that it has, unless it says that it means it', async () => {
    const { locks } = stage.entry
    const again = (options: WithLockOptions): Promise<unknown> =>
      locks.withLock(key('again'), () => locks.withLock(key('again'), async () => 'inner', options))
    expect(await caught(again({}))).toBeInstanceOf(LockUsageError)
    expect(await caught(again({ nested: 'join' }))).toBeInstanceOf(LockUsageError)
    expect(await again({ nested: 'join', reentry: 'join' })).toBe('inner')
  })
}

const caughtAs = (error: unknown): unknown => error

/** Runs outside of the transaction that is open in this chain of calls. */
function fromOutside<T>(work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    outside.push(() => void work().then(resolve, reject))
  })
}

/** Emptied by a timer that was started before any transaction, and so belongs to none. */
const outside: (() => void)[] = []
setInterval(() => outside.splice(0).forEach((run) => run()), 5).unref()

/** How many wait for a named lock in this database, as the server tells it. */
const waiters: Readonly<Record<string, string>> = {
  postgres:
    "select count(*) as n from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
  mysql:
    "select count(*) as n from information_schema.processlist where state = 'User lock' and db = database()",
  mariadb:
    "select count(*) as n from information_schema.processlist where state = 'User lock' and db = database()",
}

const waitersOf = (stage: Stage): SqlStatement => ({
  sql: waiters[stage.name] ?? 'select 0 as n',
  params: [],
})

/** Waits until the server says that somebody waits. Where no server does the waiting, it is done in this process. */
async function isNext(stage: Stage): Promise<void> {
  if (waiters[stage.name] === undefined) return
  const observer = await stage.engine.open()
  const isSeen = async (): Promise<boolean> => Number((await observer.run(waitersOf(stage)))[0]?.n) > 0
  await until(isSeen, 'somebody who waits for a named lock').finally(() => observer.close())
}
