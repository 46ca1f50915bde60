import { expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError, LockUsageError } from '../../src/core/errors.ts'
import { unwrap } from '../../src/core/unwrap.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeOrms, lockFirst, type OrmContext } from './describe-orms.ts'
import type { OrmStage } from './stage.ts'

describeOrms(specs)

function specs(context: OrmContext): void {
  const isSqlite = context.name === 'sqlite'

  test('rows are those of the model, and what the work did is stored', async () => {
    const { app } = context
    await app.locks.transaction(async (tx) => {
      expect(await lockFirst(app, tx)).toEqual({ id: 1, balance: 100 })
      await app.update(tx, { id: 1, balance: 70 })
    })
    expect(await app.select(1)).toEqual([{ id: 1, balance: 70 }])
  })

  test('of many that take from it, none takes what is not there', async () => {
    const { app, other } = context
    const takers = [app, other, app, other, app, other].map((own) =>
      own.locks.transaction(async (tx) => {
        const row = await lockFirst(own, tx)
        if (row === undefined || row.balance < 30) return false
        await own.update(tx, { id: 1, balance: row.balance - 30 })
        return true
      }),
    )
    expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(3)
    expect(await app.select(1)).toEqual([{ id: 1, balance: 10 }])
  })

  test.skipIf(isSqlite)('the ORM alone takes twice what is there once', async () => {
    const { app, other } = context
    const bothHaveRead = gate()
    let readers = 0
    const taking = (own: OrmStage): Promise<unknown> =>
      own.ownTransaction(async (tx) => {
        const [row] = await own.select(1, tx)
        readers += 1
        if (readers === 2) bothHaveRead.open()
        await bothHaveRead.opened
        await own.update(tx, { id: 1, balance: (row?.balance ?? 0) - 30 })
      })
    await Promise.all([taking(app), taking(other)])
    expect(await app.select(1)).toEqual([{ id: 1, balance: 70 }])
  })

  test.skipIf(isSqlite)('another is refused the rows', async () => {
    const { app, other } = context
    await app.locks.transaction(async (tx) => {
      await lockFirst(app, tx)
      const second = other.locks.transaction((own) => lockFirst(other, own, 'nowait'), { attempts: 1 })
      await expect(second).rejects.toThrow(LockNotAvailableError)
    })
  })

  test('a query that was not built with tx locks nothing, and is refused', async () => {
    const { app, other } = context
    const reading = app.locks.transaction((tx) => app.locks.rows(tx, other.query(1) as never))
    await expect(reading).rejects.toThrow(LockUsageError)
  })

  test.skipIf(isSqlite)(
    'a query that was built with another transaction is refused, and not sent',
    async () => {
      const { app, other } = context
      await app.locks.transaction(async (tx) => {
        await other.locks.transaction(async (own) => {
          const reading = other.locks.rows(own, app.query(1, tx) as never)
          await expect(reading).rejects.toThrow(LockUsageError)
          expect(await lockFirst(other, own, 'nowait')).toEqual({ id: 1, balance: 100 })
        })
      })
    },
  )

  test.runIf(context.name === 'postgres').each([
    ['nowait', LockNotAvailableError],
    [{ timeoutMs: 1 }, LockTimeoutError],
  ] as const)(
    'what is sent at the same time as rows that are refused is not undone with their savepoint: %j',
    async (wait, Refusal) => {
      const { app, other } = context
      const ids = Array.from({ length: 16 }, (_, steps) => steps + 3)
      const insertBeside = async (tx: unknown, id: number): Promise<boolean> => {
        const insert = async (): Promise<unknown> => app.insert(tx, { id, balance: 1 })
        const insertLater = async (): Promise<unknown> => {
          for (let steps = id - 4; steps > 0; steps -= 1) await Promise.resolve()
          return insert()
        }
        const first = id === 3 ? caught(insert()) : undefined
        const locking = app.locks.rows(tx, app.query(1, tx) as never, { savepoint: true, wait })
        const [inserted, refused] = await Promise.all([first ?? caught(insertLater()), caught(locking)])
        expect(refused).toBeInstanceOf(Refusal)
        return inserted === 'no error'
      }
      await other.locks.transaction(async (holding) => {
        await lockFirst(other, holding)
        for (const id of ids) {
          const isInserted = await app.locks.transaction((tx) => insertBeside(tx, id))
          expect(await app.select(id), `${id}`).toHaveLength(isInserted ? 1 : 0)
        }
      })
    },
  )

  test.skipIf(isSqlite)(
    'a query with a lock of its own is refused, which may skip rows',
    async ({ skip }) => {
      const { locks, selectSkipping } = context.app
      if (selectSkipping === undefined) return skip('this ORM has no words for it')
      const reading = locks.transaction(async (tx) => locks.rows(tx, selectSkipping(1, tx) as never))
      await expect(reading).rejects.toThrow('has a lock clause of its own: use the options instead')
    },
  )

  test.runIf(context.name === 'postgres')(
    'an error that the work has swallowed is none that is stored',
    async () => {
      const { app } = context
      const work = async (tx: unknown): Promise<void> => {
        await app.insert(tx, { id: 3, balance: 1 })
        await app.send(tx, 'select 1/0').catch(() => {})
      }
      await expect(app.locks.transaction(work)).rejects.toThrow()
      // the ORM alone calls the same a success, and nothing is stored
      await app.ownTransaction(work)
      expect(await app.select(3)).toEqual([])
    },
  )

  test('a transaction that has ended takes nothing more', async () => {
    const { app } = context
    const kept = await app.locks.transaction(async (tx) => ({ tx }))
    const error = await caught((async () => app.insert(kept.tx, { id: 3, balance: 1 }))())
    expect(usageErrorIn(error)?.message).toContain('the transaction has ended')
    expect(await app.select(3)).toEqual([])
  })

  test.each(['commit', 'rollback'])('%s is not for the work to send', async (word) => {
    const { app } = context
    const error = await caught(
      app.locks.transaction(async (tx) => {
        await app.insert(tx, { id: 3, balance: 1 })
        await app.send(tx, word)
      }),
    )
    expect(usageErrorIn(error)).toBeDefined()
    expect(await app.select(3)).toEqual([])
  })

  test('a function of several statements that the work does not wait for is stored as a whole', async () => {
    const { app, orm } = context
    const nests = orm.nesting(context.name) === 'asynchronous'
    await app.locks.transaction(async (tx) => {
      const transfer = async (): Promise<void> => {
        await app.update(tx, { id: 1, balance: 50 })
        if (nests) await app.nest(tx, async (inner) => void (await app.update(inner, { id: 1, balance: 70 })))
        await app.select(1, tx)
        await app.update(tx, { id: 2, balance: 130 })
      }
      void transfer()
    })
    expect([...(await app.select(1)), ...(await app.select(2))]).toEqual([
      { id: 1, balance: nests ? 70 : 50 },
      { id: 2, balance: 130 },
    ])
  })

  test('nor is a part of it where one of them fails', async () => {
    const { app } = context
    const call = app.locks.transaction(async (tx) => {
      const add = async (): Promise<void> => {
        for (const id of [3, 4, 4]) await app.insert(tx, { id, balance: 1 })
      }
      void caught(add())
    })
    expect(await caught(call)).toBeInstanceOf(LockUsageError)
    expect([...(await app.select(3)), ...(await app.select(4))]).toEqual([])
  })

  test('work that throws leaves the pool usable and clean', async () => {
    const { app } = context
    for (let count = 0; count < 12; count += 1) {
      const work = app.locks.transaction(async (tx) => {
        await lockFirst(app, tx)
        await app.update(tx, { id: 1, balance: 0 })
        throw new Error('mine')
      })
      await expect(work).rejects.toThrow('mine')
    }
    expect(await app.select(1)).toEqual([{ id: 1, balance: 100 }])
  })

  test('an abort ends the wait for the rows, and leaves the pool usable', async () => {
    const { app, other } = context
    await other.locks.transaction(async (tx) => {
      await lockFirst(other, tx)
      const controller = new AbortController()
      const waiting = app.locks.transaction((own) => lockFirst(app, own), { signal: controller.signal })
      controller.abort(new Error('enough'))
      await expect(waiting).rejects.toThrow('enough')
    })
    expect(await app.locks.transaction((tx) => lockFirst(app, tx))).toEqual({ id: 1, balance: 100 })
  })
}

/** An ORM puts its own error around those of what it sends through. */
function usageErrorIn(thrown: unknown): LockUsageError | undefined {
  const errors = unwrap(thrown).map(({ error }) => error)
  return errors.find((error): error is LockUsageError & typeof error => error instanceof LockUsageError)
}
