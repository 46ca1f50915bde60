import pg from 'pg'
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest'

import { classifyError, emit } from '../../src/index.ts'
import { LockNotAvailableError, LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import {
  createLocks,
  dialectThrough,
  withTxRetry,
  type Locks,
  type TransactionOf,
} from '../../src/entries/forge.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { openForge, openStockPrismaOnSqlite } from './forge.ts'
import type { PrismaClient } from './prisma/postgres/client.ts'
import { accounts } from './stage.ts'

type Tx = TransactionOf<PrismaClient>

/** One application for each, which is gone after the test with all that it holds. */
function applicationsOn(context: EngineContext): () => PrismaClient {
  let open: { $disconnect(): Promise<void> }[] = []
  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
  })
  afterEach(async () => {
    await Promise.all(open.map((client) => client.$disconnect()))
    open = []
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })
  return () => {
    const client = openForge(context.name, context.engine.server.url)
    open.push(client)
    // the models are the same on every database
    return client as unknown as PrismaClient
  }
}

const firstAccount = { table: 'account', key: { id: 1 } }

describeEngines(
  (context) => {
    const open = applicationsOn(context)
    const dialect = context.name as 'postgres' | 'sqlite'
    let prisma: PrismaClient
    let locks: Locks<Tx, 'postgres' | 'sqlite'>

    beforeEach(() => {
      prisma = open()
      locks = createLocks(prisma, { dialect })
    })

    test('the work has the own tx of the client, and what it did is stored', async () => {
      await withTxRetry(locks, async (tx) => {
        expectTypeOf(tx).toEqualTypeOf<Tx>()
        const [row] = await locks.rows(tx, firstAccount)
        await tx.account.update({ where: { id: 1 }, data: { balance: Number(row?.balance_now) - 30 } })
      })
      expect(await prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 70 })
    })

    test('of many that take from it, none takes what is not there', async () => {
      const other = createLocks(open(), { dialect })
      const take = (own: typeof locks): Promise<boolean> =>
        own.withLock(['account', 1], async (tx) => {
          const row = await tx.account.findUnique({ where: { id: 1 } })
          if (row === null || row.balance < 30) return false
          await tx.account.update({ where: { id: 1 }, data: { balance: row.balance - 30 } })
          return true
        })
      const taken = await Promise.all([locks, other, locks, other, locks, other].map(take))
      expect(taken.filter(Boolean)).toHaveLength(3)
    })

    test.each<[string, (tx: Tx) => Promise<unknown>]>([
      ['COMMIT', (tx) => tx.$executeRawUnsafe('COMMIT')],
      ['COMMIT', (tx) => tx.$executeRaw`COMMIT`],
      ['$transaction', async (tx) => (tx as unknown as PrismaClient).$transaction(async () => {})],
      ['$extends', async (tx) => (tx as unknown as PrismaClient).$extends({})],
      ['$disconnect', async (tx) => (tx as unknown as PrismaClient).$disconnect()],
    ])('%s is not for the work to call', async (word, call) => {
      const error = await caught(
        locks.transaction(async (tx) => {
          await tx.account.create({ data: { id: 3, balance: 1 } })
          await call(tx)
        }),
      )
      expect(error).toBeInstanceOf(LockUsageError)
      expect((error as Error).message).toContain(word)
      expect(await prisma.account.findUnique({ where: { id: 3 } })).toBeNull()
    })

    test('a transaction that has ended takes nothing more', async () => {
      const kept = await locks.transaction(async (tx) => ({ tx }))
      expect(() => kept.tx.account).toThrow('the transaction has ended')
      expect(await caught(locks.rows(kept.tx, firstAccount))).toBeInstanceOf(LockUsageError)
    })

    test('what nobody waits for is stored as a whole, or nothing is', async () => {
      await locks.transaction(async (tx) => {
        const both = async (): Promise<void> => {
          await tx.account.create({ data: { id: 3, balance: 1 } })
          await tx.account.create({ data: { id: 4, balance: 1 } })
        }
        void both()
      })
      expect(await prisma.account.count()).toBe(4)
      const floating = locks.transaction(async (tx) => {
        await tx.account.create({ data: { id: 5, balance: 1 } })
        void caught(tx.account.create({ data: { id: 1, balance: 1 } }))
      })
      await expect(floating).rejects.toThrow()
      expect(await prisma.account.count()).toBe(4)
    })

    test('an access mode is refused, since the client cannot be told of one', async () => {
      const reading = locks.transaction(async () => {}, { access: 'read-only' })
      await expect(reading).rejects.toThrow('the client cannot be told how a transaction accesses data')
    })

    test('leases, fences and once are had', async () => {
      const lease = await locks.lease('nightly', { ttlMs: 30_000 })
      await locks.fenced(lease, async (tx) => {
        await tx.account.update({ where: { id: 2 }, data: { balance: 7 } })
      })
      await lease.release()
      expect(await prisma.account.findUnique({ where: { id: 2 } })).toEqual({ id: 2, balance: 7 })
      const runs: number[] = []
      for (const run of [1, 2])
        await locks.transaction((tx) =>
          locks.once(tx, ['mail', 1], async () => {
            runs.push(run)
            return run
          }),
        )
      expect(runs).toEqual([1])
    })

    test('an aborted transaction ends, and leaves the client usable', async () => {
      const abort = new AbortController()
      const waiting = locks.transaction(
        async (tx) => {
          await locks.rows(tx, firstAccount)
          abort.abort(new Error('enough'))
          await gate().opened
        },
        { signal: abort.signal },
      )
      await expect(waiting).rejects.toThrow('enough')
      await locks.transaction((tx) => locks.rows(tx, firstAccount, { wait: 'nowait' }))
    })

    test('a client without what is needed is refused', () => {
      expect(() => createLocks({} as PrismaClient, { dialect })).toThrow('pass a client with $transaction')
      expect(() => createLocks({ $transaction: () => {} }, { dialect })).toThrow(
        'has neither $queryRawUnsafe',
      )
      expect(() => createLocks(prisma, {} as { dialect: 'postgres' })).toThrow(LockUsageError)
    })
  },
  { only: ['postgres', 'sqlite'] },
)

describeEngines(
  (context) => {
    const open = applicationsOn(context)

    test('an error that the work has swallowed is none that is stored', async () => {
      const prisma = open()
      const locks = createLocks(prisma, { dialect: 'postgres' })
      const work = async (tx: Tx): Promise<void> => {
        await tx.account.create({ data: { id: 3, balance: 1 } })
        await caught(tx.account.create({ data: { id: 1, balance: 1 } }))
      }
      const error = await caught(locks.transaction(work))
      expect(error).toBeInstanceOf(LockUsageError)
      expect((error as Error).message).toContain('nothing is stored')
      expect(classifyError(error).kind).toBe('unique-violation')
      // the client alone calls the same a success, and nothing is stored
      await prisma.$transaction(work)
      expect(await prisma.account.findUnique({ where: { id: 3 } })).toBeNull()
    })

    test('what belongs to a connection is refused, and says what to use instead', async () => {
      const locks = createLocks(open(), { dialect: 'postgres' })
      const refused = [
        locks.acquire('k'),
        locks.withLock('k', async () => {}, { isolation: 'serializable' }),
        locks.withLock('k', async () => {}, { isolation: 'repeatable read' }),
      ]
      for (const error of await Promise.all(refused.map(caught))) {
        expect(error).toBeInstanceOf(UnsupportedLockError)
        expect((error as Error).message).toContain('the client gives access to none outside its transactions')
        expect((error as Error).message).toContain('locks.lease')
      }
    })

    test('a client that does not pass the isolation level on is refused', async () => {
      const prisma = open()
      const deaf = new Proxy(prisma, {
        get: (target, name) =>
          name === '$transaction'
            ? (work: (tx: Tx) => Promise<unknown>) => target.$transaction(work)
            : (Reflect.get(target, name) as unknown),
      })
      const locks = createLocks(deaf, { dialect: 'postgres' })
      const work = locks.transaction(async () => {}, { isolation: 'serializable' })
      await expect(work).rejects.toThrow('asked for serializable, and has begun with read committed')
    })

    test('a client that repeats transactions by itself is refused the second time', async () => {
      const prisma = open()
      const eager = new Proxy(prisma, {
        get: (target, name) =>
          name === '$transaction'
            ? async (work: (tx: Tx) => Promise<unknown>, options: object) => {
                await caught(target.$transaction(work, options))
                return target.$transaction(work, options)
              }
            : (Reflect.get(target, name) as unknown),
      })
      const locks = createLocks(eager, { dialect: 'postgres' })
      let runs = 0
      await caught(
        locks.transaction(async () => {
          runs += 1
          throw new Error('mine')
        }),
      )
      expect(runs).toBe(1)
    })

    test('the time that the client was given for a transaction is that of the client alone', async () => {
      const prisma = open()
      const locks = createLocks(prisma, { dialect: 'postgres', timeout: 50 })
      const late = locks.transaction(
        async (tx) => {
          await tx.account.create({ data: { id: 3, balance: 1 } })
          await tx.$queryRaw`SELECT pg_sleep(0.2)::text`
        },
        { attempts: 1 },
      )
      await expect(late).rejects.toThrow()
      expect(await prisma.account.findUnique({ where: { id: 3 } })).toBeNull()
    })

    test('a deadlock is repeated as one transaction, and both are stored once', async () => {
      const prisma = open()
      const locks = createLocks(prisma, { dialect: 'postgres' })
      const [bothHold, oneIsThrough] = [gate(), gate()]
      let holders = 0
      const move = async (first: number, second: number): Promise<void> => {
        let runs = 0
        await locks.transaction(async (tx) => {
          // or the one that is repeated may be faster than the one that was woken, and lose again
          if ((runs += 1) > 1) await oneIsThrough.opened
          await tx.account.update({ where: { id: first }, data: { balance: { increment: 1 } } })
          holders += 1
          if (holders === 2) bothHold.open()
          await bothHold.opened
          await tx.account.update({ where: { id: second }, data: { balance: { increment: 1 } } })
        })
        oneIsThrough.open()
      }
      await Promise.all([move(1, 2), move(2, 1)])
      expect(await prisma.account.findMany({ orderBy: { id: 'asc' } })).toEqual([
        { id: 1, balance: 102 },
        { id: 2, balance: 102 },
      ])
      expect(holders).toBe(3)
    })

    test('who tries gets null, and a refused row is no conflict', async () => {
      const locks = createLocks(open(), { dialect: 'postgres' })
      const others = createLocks(open(), { dialect: 'postgres' })
      await locks.withLock('k', async (tx) => {
        await locks.rows(tx, firstAccount)
        expect(await others.tryLock('k', async () => 1)).toEqual({ acquired: false })
        const refused = caught(
          others.transaction((own) => others.rows(own, firstAccount, { wait: 'nowait' })),
        )
        expect(await refused).toBeInstanceOf(LockNotAvailableError)
      })
    })

    test('a client that has only templates for raw statements does as well', async () => {
      const url = context.engine.server.url
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      pool.on('error', () => {})
      const client = templateClient(pool)
      const locks = createLocks(client, { dialect: 'postgres' })
      const rows = await locks.withLock(['a', 'b?$1'], (tx) =>
        locks.rows(tx, { sql: "SELECT id, '$1 ?' AS t FROM account WHERE id = $1", params: [1] }),
      )
      expect([...rows]).toEqual([{ id: 1, t: '$1 ?' }])
      await pool.end()
    })
  },
  { only: ['postgres'] },
)

/** As small as such a client can be, on a real pool. */
function templateClient(pool: pg.Pool) {
  const on = (to: pg.Pool | pg.PoolClient) => {
    const send = async (strings: readonly string[], values: readonly unknown[]) =>
      to.query(
        strings.reduce((text, part, index) => `${text}$${index}${part}`),
        [...values],
      )
    return {
      $queryRaw: async (strings: readonly string[], ...values: readonly unknown[]): Promise<unknown> =>
        (await send(strings, values)).rows,
      $executeRaw: async (strings: readonly string[], ...values: readonly unknown[]): Promise<unknown> =>
        (await send(strings, values)).rowCount,
    }
  }
  return {
    ...on(pool),
    $transaction: async <T>(work: (tx: ReturnType<typeof on>) => Promise<T>): Promise<T> => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await work(on(client))
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
  }
}

describeEngines(
  (context) => {
    const open = applicationsOn(context)

    test('a client that waits for the file inside of its driver is refused', async () => {
      const prisma = openStockPrismaOnSqlite(context.engine.server.url, 5000)
      const locks = createLocks(prisma, { dialect: 'sqlite' })
      await expect(locks.transaction(async () => {})).rejects.toThrow('give its adapter timeout: 0')
      await prisma.$disconnect()
    })

    test('the write lock is there before the first read, although the client begins as a reader', async () => {
      const locks = createLocks(open(), { dialect: 'sqlite' })
      const alone = open()
      await locks.transaction(async (tx) => {
        await tx.account.findMany()
        const write = caught(alone.account.update({ where: { id: 1 }, data: { balance: 1 } }))
        expect(classifyError(await write).kind).toBe('busy')
      })
      // without it, the same work lets others write between its read and its write
      await alone.$transaction(async (tx) => {
        await tx.account.findMany()
        await open().account.update({ where: { id: 1 }, data: { balance: 1 } })
      })
    })

    test('a row lock is one on the whole file, and its receipt says so', async () => {
      const locks = createLocks(open(), { dialect: 'sqlite' })
      const { receipt } = await locks.transaction((tx) => locks.rows(tx, firstAccount))
      expect(receipt).toMatchObject({ granularity: 'database', support: { level: 'stronger' } })
    })

    test('a lock on a table is refused, since the client begins in its own way', () => {
      const dialect = dialectThrough('sqlite')
      expect(() => emit({ dialect, version: '3.45' }, 'table', { table: 'account' })).toThrow(
        'the client begins its transactions in its own way',
      )
    })
  },
  { only: ['sqlite'] },
)

describeEngines(
  (context) => {
    const open = applicationsOn(context)
    const dialect = context.name as 'mysql' | 'mariadb'

    test('named locks and the limit of a whole transaction are refused', async () => {
      const locks = createLocks(open(), { dialect })
      const named = await caught(locks.withLock('k', async () => {}))
      expect(named).toBeInstanceOf(UnsupportedLockError)
      const limited = await caught(locks.transaction(async () => {}, { lockTimeoutMs: 1000 }))
      expect((limited as Error).message).toContain('{ wait: { timeoutMs } } with each lock')
    })

    test('a statement that would end the transaction is refused, and not sent', async () => {
      const client = open()
      const locks = createLocks(client, { dialect })
      const work = async (tx: Tx): Promise<void> => {
        await tx.$executeRawUnsafe('INSERT INTO account VALUES (3, 1)')
        // DDL commits
        await tx.$executeRawUnsafe('CREATE TABLE IF NOT EXISTS account_log (id integer)')
      }
      await expect(locks.transaction(work)).rejects.toThrow('CREATE TABLE would end the transaction')
      expect(await client.$queryRawUnsafe('SELECT id FROM account WHERE id = 3')).toEqual([])
    })

    test('an error that undoes the transaction ends it for the work as well', async () => {
      const client = open()
      const locks = createLocks(client, { dialect })
      const bothHold = gate()
      let runs = 0
      const move = (first: number, second: number): Promise<void> =>
        locks.transaction(async (tx) => {
          const add = (id: number): Promise<unknown> =>
            tx.$executeRawUnsafe('UPDATE account SET balance_now = balance_now + 1 WHERE id = ?', id)
          await add(first)
          runs += 1
          if (runs === 2) bothHold.open()
          await bothHold.opened
          // whoever loses the deadlock goes on as if nothing were
          await caught(add(second))
          await caught(add(second))
        })
      await Promise.all([move(1, 2), move(2, 1)])
      expect(runs).toBe(3)
      expect(await client.$queryRawUnsafe('SELECT balance_now AS n FROM account ORDER BY id')).toEqual([
        { n: 103 },
        { n: 103 },
      ])
    })
  },
  { only: ['mysql', 'mariadb'] },
)
