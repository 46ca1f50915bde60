import { Kysely, sql, type SelectQueryBuilder, type Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'

import {
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  UnsupportedLockError,
} from '../../src/core/errors.ts'
import { createLocks, type KyselyLocks } from '../../src/entries/kysely.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { dialects, type ServerName } from './kysely-dialects.ts'

interface Bank {
  account: { id: number; balance: number }
}

describeEngines(specs, { only: Object.keys(dialects) })

function specs(context: EngineContext): void {
  const name = context.name as ServerName
  let db: Kysely<Bank>
  let other: Kysely<Bank>
  let locks: KyselyLocks<Transaction<Bank>, ServerName>

  beforeEach(async () => {
    const { url } = context.engine.server
    db = new Kysely<Bank>({ dialect: dialects[name](url) })
    other = new Kysely<Bank>({ dialect: dialects[name](url) })
    locks = createLocks(db, { dialect: name })
    await db.schema.dropTable('account').ifExists().execute()
    await db.schema
      .createTable('account')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('balance', 'integer', (column) => column.notNull())
      .execute()
    await db
      .insertInto('account')
      .values([
        { id: 1, balance: 100 },
        { id: 2, balance: 100 },
      ])
      .execute()
  })

  afterEach(async () => {
    await Promise.all([db.destroy(), other.destroy()])
    await until(async () => (await context.engine.leftovers()).length === 0, `${name} holds nothing`)
  })

  const balance = async (id: number): Promise<number | undefined> =>
    (await db.selectFrom('account').select('balance').where('id', '=', id).executeTakeFirst())?.balance

  test('commits what the work did, and gives what it returned', async () => {
    const given = await locks.transaction(async (tx) => {
      const [row] = await locks.rows(tx, tx.selectFrom('account').selectAll().where('id', '=', 1))
      await tx
        .updateTable('account')
        .set({ balance: (row?.balance ?? 0) - 30 })
        .where('id', '=', 1)
        .execute()
      return row
    })
    expect(given).toEqual({ id: 1, balance: 100 })
    expect(await balance(1)).toBe(70)
  })

  test("rolls back, and rejects with the work's own error", async () => {
    const error = new Error('no')
    const work = locks.transaction(async (tx) => {
      await tx.deleteFrom('account').execute()
      throw error
    })
    await expect(work).rejects.toBe(error)
    expect(await balance(1)).toBe(100)
  })

  test('rows come with a receipt, in the order of the query, also when it was built with another instance', async () => {
    const rows = await locks.transaction((tx) =>
      locks.rows(tx, db.selectFrom('account').selectAll().orderBy('id')),
    )
    expect([...rows]).toEqual([
      { id: 1, balance: 100 },
      { id: 2, balance: 100 },
    ])
    expect(rows.receipt).toMatchObject({ dialect: name, asked: 'exclusive', granted: 'exclusive' })
  })

  test('what is not a query of selectFrom is refused, and { table, key } with what it is for', async () => {
    const asked = (query: object): Promise<unknown> =>
      locks.transaction((tx) => locks.rows(tx, query as SelectQueryBuilder<Bank, 'account', never>))
    const message = 'query: only a SELECT built with selectFrom can lock the rows that it reads'
    const field = 'query'
    await expect(asked(sql`select * from account`)).rejects.toMatchObject({ field, message })
    await expect(asked({ table: 'account', key: { id: 1 } })).rejects.toMatchObject({
      field,
      message: `${message}: { table, key } is for other entries, such as holdfast/pg`,
    })
  })

  test("Kysely's own forUpdate locks inside the transaction, and is refused outside of one", async () => {
    const query = (from: Kysely<Bank>) =>
      from.selectFrom('account').selectAll().where('id', '=', 1).forUpdate()
    const rows = await locks.transaction(async (tx) => query(tx).execute())
    expect(rows).toEqual([{ id: 1, balance: 100 }])
    let leaked: Transaction<Bank> | undefined
    await locks.transaction(async (tx) => void (leaked = tx))
    await expect((async () => query(leaked as Kysely<Bank>).execute())()).rejects.toThrow(LockUsageError)
    await expect(locks.rows(leaked as Transaction<Bank>, query(db))).rejects.toMatchObject({ field: 'tx' })
  })

  test('a transaction cannot be left or nested through its own object', async () => {
    await locks.transaction(async (tx) => {
      expect(tx.isTransaction).toBe(true)
      expect(() => tx.transaction()).toThrow(LockUsageError)
      await expect(locks.transaction(async () => 1)).rejects.toMatchObject({ field: 'nested' })
      expect(await locks.transaction(async (inner) => inner === tx, { nested: 'join' })).toBe(true)
    })
  })

  test('an error that was caught in the work does not become a commit that stores nothing', async () => {
    const swallowed = locks.transaction(
      async (tx) => {
        await tx.updateTable('account').set({ balance: 0 }).where('id', '=', 1).execute()
        await sql`select * from no_such_table`.execute(tx).catch(() => {})
      },
      { attempts: 1 },
    )
    const outcome = await swallowed.then(
      () => 'committed',
      () => 'refused',
    )
    expect(await balance(1)).toBe(outcome === 'committed' ? 0 : 100)
  })

  if (name === 'sqlite') {
    test('the transaction takes the write lock at once, and a second one waits for it without blocking', async () => {
      const second = createLocks(other, { dialect: 'sqlite' })
      await locks.transaction(async () => {
        await expect(second.transaction(async () => 1, { lockTimeoutMs: 50 })).rejects.toThrow(
          LockTimeoutError,
        )
      })
      expect(await second.transaction(async () => 1, { lockTimeoutMs: 60_000 })).toBe(1)
      const skipping = second.transaction((tx) =>
        // @ts-expect-error there is nothing to skip on SQLite
        second.rows(tx, tx.selectFrom('account').selectAll(), { wait: 'skip' }),
      )
      await expect(skipping).rejects.toThrow(UnsupportedLockError)
    })
  } else {
    describe('a row that another transaction holds', () => {
      serverSpecs()
    })
  }

  function serverSpecs(): void {
    const one = (tx: Kysely<Bank>) => tx.selectFrom('account').selectAll().where('id', '=', 1)
    const whileHeld = async (work: () => Promise<void>): Promise<void> => {
      const holder = createLocks(other, { dialect: name })
      await holder.transaction(async (tx) => {
        await holder.rows(tx, one(tx))
        await work()
      })
    }

    test('is reported at once with nowait, and the cause is the error of the driver', async () => {
      await whileHeld(async () => {
        const refused = locks.transaction((tx) => locks.rows(tx, one(tx), { wait: 'nowait' }))
        await expect(refused).rejects.toThrow(LockNotAvailableError)
        await expect(refused).rejects.toHaveProperty('cause.code')
      })
    })

    test.each([150, 1000])('is waited for at most %i ms', async (timeoutMs) => {
      await whileHeld(async () => {
        const began = performance.now()
        await expect(
          locks.transaction((tx) => locks.rows(tx, one(tx), { wait: { timeoutMs } })),
        ).rejects.toThrow(LockTimeoutError)
        expect(performance.now() - began).toBeGreaterThanOrEqual(timeoutMs * 0.9)
      })
    })

    test('is left out with skip', async () => {
      await whileHeld(async () => {
        const rows = await locks.transaction((tx) =>
          locks.rows(tx, tx.selectFrom('account').selectAll(), { wait: 'skip' }),
        )
        expect([...rows]).toEqual([{ id: 2, balance: 100 }])
      })
    })

    test('is not kept from plain reads, so the lock is what keeps others out', async () => {
      await whileHeld(async () => {
        expect(await locks.transaction((tx) => one(tx).execute())).toHaveLength(1)
      })
    })
  }
}

test('types: rows have the type of the query, and the transaction is that of Kysely', () => {
  const db = {} as Kysely<Bank>
  const typed = (): void => {
    const locks = createLocks(db, { dialect: 'postgres' })
    void locks.transaction(async (tx) => {
      expectTypeOf(tx).toEqualTypeOf<Transaction<Bank>>()
      const rows = await locks.rows(tx, tx.selectFrom('account').select('balance'), { wait: 'skip' })
      expectTypeOf(rows[0]).toEqualTypeOf<{ balance: number } | undefined>()
    })
  }
  expectTypeOf(typed).toBeFunction()
})
