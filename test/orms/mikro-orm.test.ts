import { EntitySchema, LockMode, type MikroORM } from '@mikro-orm/postgresql'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { LockUsageError, RetryableTransactionError } from '../../src/core/errors.ts'
import { createLocks, type MikroOrmInstance } from '../../src/entries/mikro-orm.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { openMikroOrm } from './mikro-orm.ts'
import { accounts } from './stage.ts'

interface Account {
  id: number
  balance: number
}

/** The same as the one of the stage, whose properties can be changed. */
const Wallet = new EntitySchema<Account>({
  name: 'wallet',
  tableName: 'account',
  properties: {
    id: { type: 'integer', primary: true, autoincrement: false },
    balance: { type: 'integer', fieldName: 'balance_now' },
  },
})

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  let orm: MikroORM
  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
    orm = await openMikroOrm(context.engine.server.url, 4, [Wallet])
  })
  afterEach(() => orm.close())

  const balance = async (id = 1): Promise<number | undefined> =>
    (await orm.em.fork().findOne(Wallet, { id }))?.balance

  test('locked rows are managed entities, and changes of them are flushed before COMMIT', async () => {
    const locks = createLocks(orm)
    await locks.transaction(async (tx) => {
      const [wallet] = await locks.rows(tx, Wallet, { id: 1 })
      expect(wallet).toBe(await tx.findOne(Wallet, { id: 1 }))
      if (wallet !== undefined) wallet.balance -= 30
    })
    expect(await balance()).toBe(70)
  })

  test('a change behind a read that nobody waits for is flushed as well', async () => {
    await createLocks(orm).transaction(async (tx) => {
      const change = async (): Promise<void> => {
        const wallet = await tx.findOneOrFail(Wallet, { id: 1 })
        wallet.balance = 5
      }
      void change()
    })
    expect(await balance()).toBe(5)
  })

  test('a flush that nobody waits for, and that fails, fails the transaction', async () => {
    const call = createLocks(orm).transaction(async (tx) => {
      tx.persist(tx.create(Wallet, { id: 1, balance: 1 }))
      void tx.flush().catch(() => {})
    })
    await expect(call).rejects.toThrow('a statement that the work did not await has failed')
  })

  test('a fork that keeps the context is refused, and so is to leave it', async () => {
    const locks = createLocks(orm)
    await expect(locks.transaction(async (tx) => tx.fork({ keepTransactionContext: true }))).rejects.toThrow(
      'use tx itself',
    )
    await expect(locks.transaction(async (tx) => tx.resetTransactionContext())).rejects.toThrow(
      'must not be called by the work',
    )
  })

  test('of two withdrawals at once the second sees what the first has left', async () => {
    const locks = createLocks(orm)
    const withdraw = (): Promise<string> =>
      locks.transaction(async (tx) => {
        const [wallet] = await locks.rows(tx, Wallet, { id: 1 })
        if (wallet === undefined || wallet.balance < 80) return 'refused'
        wallet.balance -= 80
        return 'done'
      })
    expect((await Promise.all([withdraw(), withdraw()])).toSorted()).toEqual(['done', 'refused'])
    expect(await balance()).toBe(20)
  })

  test('an entity that was read before is what the locked row says', async () => {
    const locks = createLocks(orm)
    await locks.transaction(async (tx) => {
      const before = await tx.findOne(Wallet, { id: 1 })
      await orm.em.fork().nativeUpdate(Wallet, { id: 1 }, { balance: 40 })
      const [wallet] = await locks.rows(tx, Wallet, { id: 1 })
      expect(wallet).toBe(before)
      expect(before?.balance).toBe(40)
    })
    expect(await balance()).toBe(40)
  })

  test('entities with changes that are not stored are refused, and nothing of them is lost', async () => {
    const locks = createLocks(orm)
    await locks.transaction(async (tx) => {
      const wallet = await tx.findOneOrFail(Wallet, { id: 1 })
      wallet.balance = 55
      const refused = tx.createQueryBuilder(Wallet).where({ id: 1 })
      await expect(locks.rows(tx, refused)).rejects.toThrow(/not stored/)
      await tx.flush()
      await locks.rows(tx, Wallet, { id: 1 })
      expect(wallet.balance).toBe(55)
    })
    expect(await balance()).toBe(55)
  })

  test('what fails when it is flushed is the error of the transaction, and nothing is stored', async () => {
    const call = createLocks(orm).transaction(async (tx) => {
      tx.create(Wallet, { id: 1, balance: 1 })
      tx.create(Wallet, { id: 3, balance: 1 })
    })
    await expect(call).rejects.toMatchObject({ code: '23505' })
    expect(await balance(3)).toBeUndefined()
  })

  test('a conflict of the flush is another attempt, with entities of its own', async () => {
    const locks = createLocks(orm)
    let attempts = 0
    await locks.transaction(
      async (tx) => {
        attempts += 1
        const wallet = await tx.findOneOrFail(Wallet, { id: 1 })
        if (attempts === 1) await orm.em.fork().nativeUpdate(Wallet, { id: 1 }, { balance: 10 })
        wallet.balance += 1
      },
      { isolation: 'repeatable read' },
    )
    expect(attempts).toBe(2)
    expect(await balance()).toBe(11)
    const call = locks.transaction(
      async (tx) => {
        const wallet = await tx.findOneOrFail(Wallet, { id: 1 })
        await orm.em.fork().nativeUpdate(Wallet, { id: 1 }, { balance: wallet.balance + 1 })
        wallet.balance = 0
      },
      { isolation: 'repeatable read', attempts: 1 },
    )
    await expect(call).rejects.toBeInstanceOf(RetryableTransactionError)
  })

  test("MikroORM's own words for locks are those of PostgreSQL", async () => {
    const locks = createLocks(orm)
    await locks.transaction(async (tx) => {
      const lockMode = LockMode.PESSIMISTIC_WRITE
      await tx.findOneOrFail(Wallet, { id: 1 }, { lockMode })
      const rivals = createLocks(orm)
      const other = rivals.transaction((rival) => rivals.rows(rival, Wallet, { id: 1 }, { wait: 'nowait' }))
      await expect(other).rejects.toMatchObject({ name: 'LockNotAvailableError' })
      const builder = tx.createQueryBuilder(Wallet).setLockMode(lockMode)
      await expect(locks.rows(tx, builder)).rejects.toThrow(LockUsageError)
    })
  })

  test('work that joins the transaction may nest in it, and undoes nothing when it fails', async () => {
    const joining = { propagation: 'required' as never }
    const change = (value: number) => async (em: typeof orm.em) =>
      void (await em.nativeUpdate(Wallet, { id: 1 }, { balance: value }))
    await createLocks(orm).transaction(async (tx) => {
      await tx.transactional((joined) => joined.transactional(change(7)), joining)
      const failing = tx.transactional(async (joined) => {
        await change(8)(joined)
        throw new Error('for the test')
      }, joining)
      await expect(failing).rejects.toThrow('for the test')
    })
    expect(await balance()).toBe(8)
  })

  test('what would end or leave the transaction is refused', async () => {
    await createLocks(orm).transaction(async (tx) => {
      for (const name of ['begin', 'commit', 'rollback'] as const)
        await expect(tx[name]()).rejects.toThrow(LockUsageError)
      const leaving = tx.transactional(async () => {}, { propagation: 'requires_new' as never })
      await expect(leaving).rejects.toThrow(LockUsageError)
    })
  })

  test('a query that names no rows is refused', async () => {
    const locks = createLocks(orm)
    const query = { table: 'wallet', where: { id: 1 } } as unknown as string
    const call = locks.transaction((tx) => locks.rows(tx, query))
    await expect(call).rejects.toThrow(
      'query: names a table and no rows: pass { table, key }, as in { table: "account", key: { id: 1 } }',
    )
  })

  test('what is not a MikroORM over pg is refused', () => {
    expect(() => createLocks({} as MikroOrmInstance)).toThrow(LockUsageError)
    const other = { em: { fork: () => ({}), getConnection: () => ({}) } }
    expect(() => createLocks(other)).toThrow(/known to work/)
  })
}
