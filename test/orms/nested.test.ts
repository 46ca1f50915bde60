import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeOrms, lockFirst, type OrmContext } from './describe-orms.ts'
import type { Account } from './stage.ts'

describeOrms(specs)

function specs(context: OrmContext): void {
  const nesting = context.orm.nesting(context.name)
  const inAsync = test.runIf(nesting === 'asynchronous')

  const balances = async (): Promise<readonly number[]> => {
    const { select } = context.app
    return [...(await select(1)), ...(await select(2))].map(({ balance }) => balance)
  }

  test.skipIf(nesting === 'none')('what the ORM gives to nested work is the same transaction', async () => {
    const { app } = context
    const reading = app.locks.transaction(async (tx) => {
      let row: Account | undefined
      await app.nest(tx, async (inner) => {
        row = await lockFirst(app, inner)
      })
      return row
    })
    if (nesting === 'synchronous') await expect(reading).rejects.toThrow('give it one that is not async')
    else expect(await reading).toEqual({ id: 1, balance: 100 })
  })

  test.runIf(nesting === 'synchronous')('what is refused as nested work is not begun', async () => {
    const { app } = context
    await app.locks.transaction(async (tx) => {
      const nested = async (): Promise<unknown> =>
        app.nest(tx, async (inner) => {
          await app.update(inner, { id: 1, balance: 1 })
          await app.update(inner, { id: 2, balance: 2 })
        })
      expect(await caught(nested())).toBeInstanceOf(LockUsageError)
      // what it would do goes on before the end of the transaction
      await app.select(1, tx)
    })
    expect(await balances()).toEqual([100, 100])
  })

  inAsync('of nested work at once, one that fails undoes no other', async () => {
    const { app } = context
    const answers = await app.locks.transaction(async (tx) =>
      Promise.allSettled([
        app.nest(tx, async (inner) => {
          await app.update(inner, { id: 1, balance: 1 })
          throw new Error('the first fails')
        }),
        app.nest(tx, async (inner) => {
          await app.update(inner, { id: 2, balance: 2 })
        }),
      ]),
    )
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await balances()).toEqual([100, 2])
  })

  /** An update of the outer transaction while nested work of it is under way, which then ends as told. */
  const besideNested = async (
    end: () => void,
    beside: (tx: unknown) => Promise<unknown>,
  ): Promise<readonly string[]> => {
    const { app } = context
    const answers = await app.locks.transaction(async (tx) => {
      const [isNested, isDone] = [gate(), gate()]
      const nested = app.nest(tx, async (inner) => {
        await app.update(inner, { id: 1, balance: 1 })
        isNested.open()
        await isDone.opened
        end()
      })
      await isNested.opened
      const outer = beside(tx)
      await caught(outer)
      isDone.open()
      return Promise.allSettled([nested, outer])
    })
    return answers.map(({ status }) => status)
  }

  const failNested = (): never => {
    throw new Error('the nested work fails')
  }

  inAsync('what was sent beside nested work that is undone is not lost in silence', async () => {
    const { app } = context
    const undone = 'and with it what was sent beside it'
    const update = async (tx: unknown): Promise<unknown> => app.update(tx, { id: 2, balance: 2 })
    await expect(besideNested(failNested, update)).rejects.toThrow(undone)
    await expect(besideNested(failNested, (tx) => lockFirst(app, tx))).rejects.toThrow(undone)
    expect(await balances()).toEqual([100, 100])
    expect(await besideNested(() => {}, update)).toEqual(['fulfilled', 'fulfilled'])
    expect(await balances()).toEqual([1, 2])
  })

  inAsync('nested work that nobody waits for, and that fails, fails the transaction', async () => {
    const { app } = context
    const call = app.locks.transaction(async (tx) => {
      await app.update(tx, { id: 1, balance: 1 })
      const nested = app.nest(tx, async (inner) => {
        await app.update(inner, { id: 2, balance: 2 })
        throw new Error('nobody hears of it')
      })
      void caught(nested)
    })
    await expect(call).rejects.toThrow('a statement that the work did not await has failed')
    expect(await balances()).toEqual([100, 100])
  })

  inAsync('also by a statement of its own', async () => {
    const { app } = context
    const call = app.locks.transaction(async (tx) => {
      const nested = app.nest(tx, async (inner) => {
        await app.update(inner, { id: 2, balance: 2 })
        await app.insert(inner, { id: 1, balance: 1 })
      })
      void caught(nested)
    })
    expect(await caught(call)).toBeInstanceOf(LockUsageError)
    expect(await balances()).toEqual([100, 100])
  })

  inAsync('nested work that is not awaited is stored as a whole', async () => {
    const { app } = context
    const bodyHasEnded = gate()
    await app.locks.transaction(async (tx) => {
      void app.nest(tx, async (inner) => {
        await app.update(inner, { id: 1, balance: 1 })
        void app.nest(inner, async (innermost) => {
          await bodyHasEnded.opened
          await app.update(innermost, { id: 2, balance: 2 })
        })
      })
      setImmediate(bodyHasEnded.open)
    })
    expect(await balances()).toEqual([1, 2])
  })

  const addInTurn = async (inner: unknown): Promise<void> => {
    for (const id of [3, 4, 5]) await context.app.insert(inner, { id, balance: 1 })
  }

  const added = async (): Promise<number> => {
    const { select } = context.app
    return [...(await select(3)), ...(await select(4)), ...(await select(5))].length
  }

  inAsync('what nested work has started and not awaited is stored as a whole', async () => {
    const { app } = context
    await app.locks.transaction(async (tx) => {
      await app.nest(tx, async (inner) => void addInTurn(inner))
    })
    expect(await added()).toBe(3)
  })

  inAsync('also what follows from a lock of it', async () => {
    const { app } = context
    await app.locks.transaction(async (tx) => {
      const lockAndAdd = async (inner: unknown): Promise<void> => {
        await lockFirst(app, inner)
        await addInTurn(inner)
      }
      await app.nest(tx, async (inner) => void lockAndAdd(inner))
    })
    expect(await added()).toBe(3)
  })

  inAsync('and is undone as a whole', async () => {
    const { app } = context
    const mine = new Error('of the nested work')
    await app.locks.transaction(async (tx) => {
      const nested = app.nest(tx, async (inner) => {
        void addInTurn(inner)
        throw mine
      })
      await expect(nested).rejects.toThrow(mine)
    })
    expect(await added()).toBe(0)
  })

  inAsync('so is nested work when something fails that it did not wait for', async () => {
    const { app } = context
    const call = app.locks.transaction(async (tx) => {
      await app.nest(tx, async (inner) => {
        const add = async (): Promise<void> => {
          await app.insert(inner, { id: 3, balance: 1 })
          await app.insert(inner, { id: 3, balance: 1 })
        }
        void caught(add())
      })
    })
    expect(await caught(call)).toBeInstanceOf(Error)
    expect(await added()).toBe(0)
  })

  inAsync('what follows from nested work that is not awaited is stored with it', async () => {
    const { app } = context
    const bodyHasEnded = gate()
    await app.locks.transaction(async (tx) => {
      const nestAndAdd = async (): Promise<void> => {
        await app.nest(tx, async (inner) => {
          await bodyHasEnded.opened
          await app.update(inner, { id: 1, balance: 1 })
        })
        await addInTurn(tx)
      }
      void nestAndAdd()
      setImmediate(() => setImmediate(bodyHasEnded.open))
    })
    expect([...(await balances()), await added()]).toEqual([1, 100, 3])
  })

  inAsync('nested work that never ends is given up with the signal, before COMMIT', async () => {
    const { app } = context
    const controller = new AbortController()
    const isOver = gate()
    const call = app.locks.transaction(
      async (tx) => {
        const forEver = app.nest(tx, async (inner) => {
          await app.update(inner, { id: 1, balance: 1 })
          setImmediate(() => controller.abort(new Error('enough')))
          await isOver.opened
        })
        void caught(forEver)
      },
      { signal: controller.signal },
    )
    await expect(call).rejects.toThrow('enough')
    isOver.open()
    expect(await balances()).toEqual([100, 100])
  })

  inAsync('nested work that nests in the outer transaction is refused', async () => {
    const { app } = context
    const nestedInOuter = app.locks.transaction((tx) =>
      app.nest(tx, async () => {
        await app.nest(tx, async (inner) => void (await app.select(1, inner)))
      }),
    )
    await expect(nestedInOuter).rejects.toThrow('call transaction of the one that it was given')
  })
}
