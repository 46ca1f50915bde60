import { expect, test, vi } from 'vitest'

import { LockUsageError, RetryableTransactionError } from '../../src/core/errors.ts'
import { withTxRetry } from '../../src/entries/pg.ts'
import { caught, describeEntries, type Stage } from './stage.ts'
import { counterOf } from './subject.ts'

describeEntries(specs)

const lost = (): Error => new RetryableTransactionError('deadlock', 'for the test')
const soon = { baseMs: 1, capMs: 1 }

function specs(stage: Stage): void {
  const target = counterOf(stage.name)

  test('what the work does is stored, and what it gives is given', async () => {
    const { locks, increment, read } = stage.entry
    const before = await stage.seen()
    const result = await locks.transaction(async (tx) => {
      await increment(tx)
      return { n: await read(tx) }
    })
    expect(result).toEqual({ n: before + 1 })
    expect(await stage.seen()).toBe(before + 1)
    await withTxRetry(locks, increment)
    expect(await stage.seen()).toBe(before + 2)
  })

  test('what the work throws is thrown, the very same object, and nothing is stored', async () => {
    const { locks, increment } = stage.entry
    const before = await stage.seen()
    const mine = Object.assign(new Error('no money'), { code: 'MINE' })
    const work = async (tx: unknown): Promise<void> => {
      await increment(tx)
      throw mine
    }
    expect(await caught(locks.transaction(work))).toBe(mine)
    expect(await stage.seen()).toBe(before)
  })

  test('a tx that is not open is refused', async () => {
    const { locks } = stage.entry
    const tx = await locks.transaction(async (open) => open)
    const refused = { name: 'LockUsageError', field: 'tx' }
    await expect(locks.rows(tx, target)).rejects.toMatchObject(refused)
    await expect(locks.rows({}, target)).rejects.toMatchObject(refused)
  })

  test('a transaction inside another is refused, unless it is asked to be a part of it', async () => {
    const { locks, increment } = stage.entry
    const before = await stage.seen()
    const nested = locks.transaction(async () => locks.transaction(increment))
    await expect(nested).rejects.toMatchObject({ name: 'LockUsageError', field: 'nested' })
    const mine = new Error('for the test')
    const joined = locks.transaction(async (outer) => {
      await locks.transaction(
        async (inner) => {
          expect(inner).toBe(outer)
          await increment(inner)
        },
        { nested: 'join' },
      )
      throw mine
    })
    expect(await caught(joined)).toBe(mine)
    expect(await stage.seen()).toBe(before)
  })

  test.each([{ access: 'read-only' }, { lockTimeoutMs: 50 }, { isolation: 'read uncommitted' }] as const)(
    'a part that asks for %j is refused where the whole has it not',
    async (asked) => {
      const { locks } = stage.entry
      const work = vi.fn<() => Promise<string>>(async () => 'inner')
      const [field] = Object.keys(asked)
      const part = { ...asked, nested: 'join' } as const
      const refused = { name: 'LockUsageError', field }
      await locks.transaction(async () => {
        await expect(locks.transaction(work, part)).rejects.toMatchObject(refused)
        await expect(locks.withLock('part', work, part)).rejects.toMatchObject(refused)
      })
      expect(work).not.toHaveBeenCalled()
    },
  )

  test('a part that asks for what the whole has is a part of it', async () => {
    const { locks } = stage.entry
    const part = { access: 'read-write', lockTimeoutMs: 5000, isolation: 'read committed' } as const
    const whole = locks.transaction(
      async () => locks.transaction(async () => 'inner', { ...part, nested: 'join' }),
      part,
    )
    expect(await whole).toBe('inner')
  })

  test('a signal that has aborted before keeps the work from being run', async () => {
    const { locks } = stage.entry
    const work = vi.fn<() => Promise<void>>(async () => {})
    const reason = new Error('changed my mind')
    expect(await caught(locks.transaction(work, { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(work).not.toHaveBeenCalled()
  })

  test('a signal that aborts while the work runs undoes it', async () => {
    const { locks, increment } = stage.entry
    const before = await stage.seen()
    const controller = new AbortController()
    const reason = new Error('changed my mind')
    const work = async (tx: unknown): Promise<void> => {
      await increment(tx)
      controller.abort(reason)
      await new Promise(() => {}) // never ends by itself
    }
    expect(await caught(locks.transaction(work, { signal: controller.signal }))).toBe(reason)
    expect(await stage.seen()).toBe(before)
    await locks.transaction(increment)
    expect(await stage.seen()).toBe(before + 1)
  })

  test('a transaction that loses is run again from the start, as often as is allowed', async () => {
    const { locks, increment } = stage.entry
    const before = await stage.seen()
    const retries: number[] = []
    const work = vi.fn<(tx: unknown) => Promise<void>>(async (tx) => {
      await increment(tx)
      throw lost()
    })
    const onRetry = ({ attempt, kind }: { attempt: number; kind: string }): void => {
      expect(kind).toBe('deadlock')
      retries.push(attempt)
    }
    const failed = locks.transaction(work, { attempts: 3, backoff: soon, onRetry })
    await expect(failed).rejects.toBeInstanceOf(RetryableTransactionError)
    expect(work).toHaveBeenCalledTimes(3)
    expect(retries).toEqual([1, 2])
    expect(await stage.seen()).toBe(before)
  })

  test('what onRetry throws ends the call', async () => {
    const { locks } = stage.entry
    const mine = new Error('enough')
    const failed = locks.transaction(() => Promise.reject(lost()), {
      onRetry: () => {
        throw mine
      },
    })
    expect(await caught(failed)).toBe(mine)
  })

  test('no attempt starts that the budget does not allow', async () => {
    const { locks } = stage.entry
    const work = vi.fn<() => Promise<void>>(() => Promise.reject(lost()))
    // the pause, and the budget too, are longer than this test may take
    const backoff = { baseMs: 3_600_000, capMs: 3_600_000, random: () => 0.5 }
    await expect(locks.transaction(work, { budgetMs: 1_200_000, backoff })).rejects.toThrow('for the test')
    expect(work).toHaveBeenCalledTimes(1)
  })

  test("the work's own error is the one that is thrown when its connection is gone", async () => {
    const { locks, increment, kill } = stage.entry
    const mine = new Error('of the work')
    const work = async (tx: unknown): Promise<void> => {
      await increment(tx)
      await kill(tx, stage.engine)
      throw mine
    }
    expect(await caught(locks.transaction(work))).toBe(mine)
    const before = await stage.seen()
    await locks.transaction(increment)
    expect(await stage.seen()).toBe(before + 1)
  })

  test('a connection that breaks before COMMIT is another attempt, and the work is stored once', async () => {
    const { locks, increment, kill } = stage.entry
    const before = await stage.seen()
    let attempts = 0
    await locks.transaction(
      async (tx) => {
        attempts += 1
        await increment(tx)
        if (attempts === 1) await kill(tx, stage.engine)
        await increment(tx)
      },
      { backoff: soon },
    )
    expect(attempts).toBe(2)
    expect(await stage.seen()).toBe(before + 2)
  })

  test('options that nobody knows are refused', async () => {
    const { locks, increment } = stage.entry
    // @ts-expect-error no such option
    await expect(locks.transaction(increment, { retries: 3 })).rejects.toBeInstanceOf(LockUsageError)
    await expect(locks.transaction(increment, { attempts: 0 })).rejects.toMatchObject({ field: 'attempts' })
  })
}
