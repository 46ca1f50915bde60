import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import { createLocks, type DrizzleLocks } from '../../src/entries/drizzle.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { openSingle, stages, type DrizzlePg, type DrizzleStage } from './drizzle-stage.ts'

type Tx = Parameters<Parameters<DrizzlePg['transaction']>[0]>[0]

describeEngines(specs, { only: Object.keys(stages) })

function specs(context: EngineContext): void {
  const isSqlite = context.name === 'sqlite'
  let stage: DrizzleStage
  let locks: DrizzleLocks<Tx, 'postgres'>
  let others: DrizzleLocks<Tx, 'postgres'>
  let otherStage: DrizzleStage

  const open = (): DrizzleStage => {
    const stageOf = stages[context.name]
    if (stageOf === undefined) throw new Error(`no stage for ${context.name}`)
    return stageOf(context.engine.server.url)
  }

  beforeEach(async () => {
    const session = await context.engine.open()
    await session.run({ sql: 'DROP TABLE IF EXISTS account', params: [] })
    await session.run({
      sql: 'CREATE TABLE account (id integer PRIMARY KEY, balance_now integer NOT NULL)',
      params: [],
    })
    await session.run({ sql: 'INSERT INTO account VALUES (1, 100), (2, 100)', params: [] })
    await session.close()
    stage = open()
    otherStage = open()
    locks = createLocks(stage.db)
    others = createLocks(otherStage.db)
  })

  afterEach(async () => {
    await Promise.all([stage.close(), otherStage.close()])
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })

  const one = (tx: Pick<Tx, 'select'>, id = 1) =>
    tx.select().from(stage.account).where(eq(stage.account.id, id))

  test('rows are those of the model, and what the work did is stored', async () => {
    await locks.transaction(async (tx) => {
      const [row] = await locks.rows(tx, one(tx))
      expect(row).toEqual({ id: 1, balance: 100 })
      await tx
        .update(stage.account)
        .set({ balance: (row?.balance ?? 0) - 30 })
        .where(eq(stage.account.id, 1))
    })
    expect(await one(stage.db)).toEqual([{ id: 1, balance: 70 }])
  })

  test('of many that take from it, none takes what is not there', async () => {
    const takers = [locks, others, locks, others, locks, others].map((own) =>
      own.transaction(async (tx) => {
        const [row] = await own.rows(tx, one(tx))
        if (row === undefined || row.balance < 30) return false
        await tx
          .update(stage.account)
          .set({ balance: row.balance - 30 })
          .where(eq(stage.account.id, 1))
        return true
      }),
    )
    expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(3)
    expect(await one(stage.db)).toEqual([{ id: 1, balance: 10 }])
  })

  test.skipIf(isSqlite)('Drizzle alone takes twice what is there once', async () => {
    const bothHaveRead = gate()
    let readers = 0
    const taking = async (tx: Tx): Promise<void> => {
      const [row] = await one(tx)
      readers += 1
      if (readers === 2) bothHaveRead.open()
      await bothHaveRead.opened
      await tx
        .update(stage.account)
        .set({ balance: (row?.balance ?? 0) - 30 })
        .where(eq(stage.account.id, 1))
    }
    await Promise.all([stage.db.transaction(taking), otherStage.db.transaction(taking)])
    expect(await one(stage.db)).toEqual([{ id: 1, balance: 70 }])
  })

  test.skipIf(isSqlite)('another is refused the rows', async () => {
    await locks.transaction(async (tx) => {
      await locks.rows(tx, one(tx))
      const second = others.transaction((own) => others.rows(own, one(own), { wait: 'nowait' }), {
        attempts: 1,
      })
      await expect(second).rejects.toThrow(LockNotAvailableError)
    })
  })

  test('a query that was not built with tx locks nothing, and is refused', async () => {
    const calling = locks.transaction(async (tx) => locks.rows(tx, one(otherStage.db)))
    await expect(calling).rejects.toThrow(LockUsageError)
  })

  test.skipIf(isSqlite)('a query with a lock of its own is refused, which may skip rows', async () => {
    const calling = locks.transaction(async (tx) =>
      locks.rows(tx, one(tx).for('update', { skipLocked: true })),
    )
    await expect(calling).rejects.toThrow('has a lock of its own: say it by the options')
  })

  test('findFirst, which gives no list, is refused', async () => {
    const said = await locks.transaction(async (tx) => {
      const query = tx.query.account.findFirst() as object
      return caught(locks.rows(tx, query as ReturnType<typeof one>))
    })
    expect(said).toMatchObject({ name: 'LockUsageError', field: 'query' })
    expect(await locks.transaction(async (tx) => locks.rows(tx, tx.query.account.findMany()))).toHaveLength(2)
  })

  test.skipIf(isSqlite)('a single connection is refused when the locks are created', async () => {
    const { db, close } = await openSingle(context.name, context.engine.server.url)
    expect(() => createLocks(db)).toThrow('is on a single connection: give drizzle a pool')
    await close()
  })

  test('an error that the work has swallowed is none that is stored', async () => {
    if (context.name !== 'postgres') return
    const work = async (tx: Tx): Promise<void> => {
      await tx.insert(stage.account).values({ id: 3, balance: 1 })
      await tx.execute(sql`select 1/0`).catch(() => {})
    }
    await expect(locks.transaction(work)).rejects.toThrow()
    // Drizzle alone calls the same a success, and nothing is stored
    await stage.db.transaction(work)
    expect(await one(stage.db, 3)).toEqual([])
  })

  test('what Drizzle gives to nested work is the same transaction', async () => {
    const read = locks.transaction(async (tx) => {
      let rows: readonly unknown[] = []
      await tx.transaction(async (inner) => {
        rows = await locks.rows(inner, one(inner))
      })
      return rows
    })
    if (isSqlite) await expect(read).rejects.toThrow('give it one that is not async')
    else expect(await read).toHaveLength(1)
  })

  const put = (tx: Pick<Tx, 'update'>, id: number, balance: number) =>
    tx.update(stage.account).set({ balance }).where(eq(stage.account.id, id))

  test.skipIf(isSqlite)('of nested work at once, one that fails undoes no other', async () => {
    const answers = await locks.transaction(async (tx) =>
      Promise.allSettled([
        tx.transaction(async (inner) => {
          await put(inner, 1, 1)
          throw new Error('the first fails')
        }),
        tx.transaction(async (inner) => {
          await put(inner, 2, 2)
        }),
      ]),
    )
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect([...(await one(stage.db)), ...(await one(stage.db, 2))]).toEqual([
      { id: 1, balance: 100 },
      { id: 2, balance: 2 },
    ])
  })

  test.skipIf(isSqlite)('nested work that is not awaited is stored as a whole, or not at all', async () => {
    const bodyHasEnded = gate()
    let failing: Promise<unknown> | undefined
    await locks.transaction(async (tx) => {
      void tx.transaction(async (inner) => {
        await put(inner, 1, 1)
        void inner.transaction(async (innermost) => {
          await bodyHasEnded.opened
          await put(innermost, 2, 2)
        })
      })
      failing = tx
        .transaction(async (inner) => {
          await put(inner, 1, 3)
          throw new Error('the last fails')
        })
        .catch((error: unknown) => error)
      setImmediate(bodyHasEnded.open)
    })
    expect(String(await failing)).toContain('the last fails')
    expect([...(await one(stage.db)), ...(await one(stage.db, 2))]).toEqual([
      { id: 1, balance: 1 },
      { id: 2, balance: 2 },
    ])
  })

  test.skipIf(isSqlite)('nested work that nests in the outer transaction is refused', async () => {
    const nesting = locks.transaction((tx) =>
      tx.transaction(() => tx.transaction(async (inner) => one(inner))),
    )
    await expect(nesting).rejects.toThrow('call transaction of the one that it was given')
  })

  test('a transaction that has ended is refused', async () => {
    const kept = await locks.transaction(async (tx) => tx)
    const error: unknown = await (async () => one(kept))().catch((reason: unknown) => reason)
    const { cause = error } = error as Error
    expect(cause).toBeInstanceOf(LockUsageError)
    expect((cause as Error).message).toContain('the transaction has ended')
  })

  test('COMMIT is not for the work to send', async () => {
    const send = isSqlite ? 'run' : 'execute'
    const sending = locks.transaction(async (tx) => {
      await tx.insert(stage.account).values({ id: 3, balance: 1 })
      await (tx as unknown as Record<typeof send, (query: unknown) => unknown>)[send](sql`commit`)
    })
    await expect(sending).rejects.toThrow()
    expect(await one(stage.db, 3)).toEqual([])
  })
}
