import { AsyncLocalStorage } from 'node:async_hooks'

import { Sequelize, Transaction } from 'sequelize'
import { describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/sequelize.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { unwrap } from '../../src/core/unwrap.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { meetingOf } from '../stories/meeting.ts'
import { openSequelize, sequelizeOrm } from './sequelize.ts'
import { modelsOf, sequelizeOn } from './sequelize-stage.ts'

describeEngines(specs, { only: sequelizeOrm.engines })

/** What only Sequelize has, but for its ways to read. */
function specs(context: EngineContext): void {
  const stage = sequelizeOn(context)
  const onPostgres = test.runIf(context.name === 'postgres')

  const balances = async (): Promise<readonly number[]> =>
    (await stage().Account.findAll({ order: ['id'] })).map(({ balance }) => balance)

  test.each(['commit', 'rollback'] as const)(
    '%s of the transaction is refused, and nothing is stored',
    async (end) => {
      const { locks, Account } = stage()
      const ending = locks.transaction(async (tx) => {
        await Account.create({ id: 3, balance: 1 }, { transaction: tx })
        await tx[end]()
      })
      await expect(ending).rejects.toThrow(`${end} must not be called by the work`)
      expect(await Account.count()).toBe(2)
    },
  )

  test("the work is given Sequelize's own transaction, and the connection is named after it", async () => {
    const { locks, sequelize, Account } = stage()
    const said: string[] = []
    const id = await locks.transaction(async (tx) => {
      expect(tx).toBeInstanceOf(Transaction)
      await Account.findAll({ transaction: tx, logging: (text) => said.push(text) })
      return (tx as Transaction & { readonly id: string }).id
    })
    await sequelize.query('SELECT 1', { logging: (text) => said.push(text) })
    expect(said).toEqual([expect.stringContaining(`(${id})`), expect.stringContaining('(default)')])
  })

  test.skipIf(context.name === 'postgres')(
    'work that goes on after a deadlock is refused by our own class, and run again',
    async () => {
      const { locks, Account } = stage()
      const { meet } = meetingOf(2)
      const after: unknown[] = []
      const add = (first: number, second: number): Promise<void> => {
        let attempts = 0
        return locks.transaction(async (tx) => {
          attempts += 1
          await Account.increment({ balance: 1 }, { where: { id: first }, transaction: tx })
          if (attempts === 1) await meet()
          const error = await caught(
            Account.increment({ balance: 1 }, { where: { id: second }, transaction: tx }),
          )
          if (error !== 'no error') after.push(await caught(Account.findAll({ transaction: tx })))
        })
      }
      await Promise.all([add(1, 2), add(2, 1)])
      expect(await balances()).toEqual([102, 102])
      expect(after).toHaveLength(1)
      expect(unwrap(after[0]).some(({ error }) => error instanceof LockUsageError)).toBe(true)
    },
  )

  test('a deadlock is one also where Sequelize sends the statement again by itself', async () => {
    const again = { match: [/deadlock/i], max: 3 }
    const sequelize = openSequelize(context.name, context.engine.server.url, 2, again)
    const { Account } = modelsOf(sequelize)
    const locks = createLocks(sequelize)
    const { meet } = meetingOf(2)
    const oneIsThrough = gate()
    const kinds: string[] = []
    const add = async (first: number, second: number): Promise<void> => {
      let attempts = 0
      await locks.transaction(
        async (tx) => {
          attempts += 1
          // or the one that is repeated may be faster than the one that was woken, and lose again
          if (attempts > 1) await oneIsThrough.opened
          await Account.increment({ balance: 1 }, { where: { id: first }, transaction: tx })
          if (attempts === 1) await meet()
          await Account.increment({ balance: 1 }, { where: { id: second }, transaction: tx })
        },
        { onRetry: ({ kind }) => void kinds.push(kind) },
      )
      oneIsThrough.open()
    }
    await Promise.all([add(1, 2), add(2, 1)])
    expect(await balances()).toEqual([102, 102])
    expect(kinds).toEqual(['deadlock'])
    await sequelize.close()
  })

  test('a savepoint inside of another has a name of its own, and goes back to its own beginning', async () => {
    const { locks, sequelize, Account } = stage()
    const work = async (tx: Transaction): Promise<void> => {
      const nested = sequelize.transaction({ transaction: tx }, async (inner) => {
        await Account.update({ balance: 1 }, { where: { id: 1 }, transaction: inner })
        await sequelize.transaction({ transaction: inner }, async (innermost) => {
          await Account.update({ balance: 2 }, { where: { id: 2 }, transaction: innermost })
        })
        throw new Error('mine')
      })
      await expect(nested).rejects.toThrow('mine')
    }
    await locks.transaction(work)
    expect(await balances()).toEqual([100, 100])
    // Sequelize alone gives both the same name, and keeps what was before the inner one
    await sequelize.transaction(work)
    expect(await balances()).toEqual([1, 100])
  })

  test('nested work that nobody would end, or of another kind, is refused', async () => {
    const { locks, sequelize } = stage()
    const said = await locks.transaction(async (tx) => [
      await caught(sequelize.transaction({ transaction: tx })),
      await caught(sequelize.transaction({ transaction: tx }, async (inner) => inner.commit())),
      await caught(
        sequelize.transaction(
          { transaction: tx, isolationLevel: Transaction.ISOLATION_LEVELS.SERIALIZABLE },
          async () => {},
        ),
      ),
    ])
    expect(said.map(String)).toEqual([
      expect.stringContaining('call transaction with one'),
      expect.stringContaining('commit must not be called by the work'),
      expect.stringContaining('has the isolation level'),
    ])
  })

  test('findOrCreate is a part of the transaction', async () => {
    const { locks, Note } = stage()
    const values = { id: 3, accountId: 1 }
    const failing = locks.transaction(async (tx) => {
      const find = { where: { text: 'third' }, defaults: { ...values, text: 'third' }, transaction: tx }
      expect((await Note.findOrCreate(find))[1]).toBe(true)
      expect((await Note.findOrCreate(find))[1]).toBe(false)
      throw new Error('mine')
    })
    await expect(failing).rejects.toThrow('mine')
    expect(await Note.count()).toBe(2)
  })

  test('transactions of Sequelize itself stay what they are', async () => {
    const { sequelize, Account } = stage()
    const own = await sequelize.transaction()
    await Account.update({ balance: 1 }, { where: { id: 1 }, transaction: own })
    await sequelize.transaction({ transaction: own }, async (inner) => {
      await Account.update({ balance: 2 }, { where: { id: 2 }, transaction: inner })
    })
    await own.rollback()
    expect(await balances()).toEqual([100, 100])
  })

  test('with a namespace, what names no transaction is in that of the work', async () => {
    const { locks, sequelize, Account } = stage()
    const storage = new AsyncLocalStorage<Map<string, unknown>>()
    Sequelize.useCLS({
      bind: (work: unknown) => work,
      run: (work: () => void) => storage.run(new Map(), work),
      get: (name: string) => storage.getStore()?.get(name),
      set: (name: string, value: unknown) => storage.getStore()?.set(name, value),
    })
    try {
      const failing = locks.transaction(async (tx) => {
        await Account.create({ id: 3, balance: 1 })
        await sequelize.transaction({ transaction: tx }, async () => {
          await Account.create({ id: 4, balance: 1 })
        })
        expect(await Account.count()).toBe(4)
        expect(await locks.rows(tx, Account, { where: { id: 3 } })).toHaveLength(1)
        throw new Error('mine')
      })
      await expect(failing).rejects.toThrow('mine')
      expect(await Account.count()).toBe(2)
    } finally {
      Reflect.deleteProperty(Sequelize, '_cls')
    }
  })

  test('with replication the transaction is where writes go, and a lost connection is no loss for the pool', async () => {
    const { hostname, port, username, password, pathname } = new URL(context.engine.server.url)
    const server = { host: hostname, port, username, password, database: pathname.slice(1) }
    const sequelize = new Sequelize({
      dialect: stage().sequelize.getDialect() as 'mysql' | 'postgres',
      logging: false,
      pool: { max: 1 },
      replication: { read: [{ ...server, password: 'wrong', port: '1' }], write: server },
    })
    const locks = createLocks(sequelize)
    const { Account } = modelsOf(sequelize)
    const lock = (tx: Transaction): Promise<readonly unknown[]> =>
      locks.rows(tx, Account, { where: { id: 1 } })
    const aborted = locks.transaction(
      async (tx) => {
        await lock(tx)
        throw new Error('mine')
      },
      { attempts: 1 },
    )
    await expect(aborted).rejects.toThrow('mine')
    expect(await locks.transaction(lock)).toHaveLength(1)
    await sequelize.close()
  })

  onPostgres('a release is heard of, where the pool has a connection to spare', async () => {
    const { locks, sequelize } = stage()
    // all are there, and to spare
    await Promise.all([1, 2, 3, 4].map(() => sequelize.query('select 1')))
    const held = await locks.lease('report')
    const waiting = locks.lease('report')
    const listeners = async (): Promise<boolean> => {
      const [rows] = await sequelize.query(
        `select from pg_stat_activity where datname = current_database() and query like 'LISTEN%'`,
      )
      return rows.length === 1
    }
    await until(listeners, 'one who listens')
    await held.release()
    await (await waiting).release()
  })
}

describe('what is not a Sequelize that Holdfast knows is refused when the locks are created', () => {
  test.each([
    ['mariadb', "give it dialect: 'mysql'"],
    ['sqlite', 'uses the package sqlite3'],
    ['mssql', 'use holdfast/mssql beside it'],
    ['oracle', 'is not one of postgres, mysql'],
  ])('for %s', (dialect, why) => {
    const sequelize = { getDialect: () => dialect, transaction: async () => {} }
    expect(() => createLocks(sequelize)).toThrow(why)
  })

  test.each([
    ['native', 'leave out native', { native: true }],
    ['isolationLevel', 'say isolation to locks.transaction', { isolationLevel: 'SERIALIZABLE' as never }],
  ])('with %s', (_, why, options) => {
    const sequelize = new Sequelize('postgres://nowhere', { dialect: 'postgres' })
    Object.assign((sequelize as unknown as { readonly options: object }).options, options)
    expect(() => createLocks(sequelize)).toThrow(why)
  })

  test('another Sequelize', () => {
    const sequelize = { getDialect: () => 'postgres', transaction: async () => {} }
    expect(() => createLocks(sequelize)).toThrow('sequelize 6.37 is known to work')
  })
})
