import { PrismaPg } from '@prisma/adapter-pg'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import { createLocks, lockable, type PrismaLocks, type TransactionOf } from '../../src/entries/prisma.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'
import { openPrisma, type PrismaOnPg } from './prisma.ts'
import { PrismaClient } from './prisma/postgres/client.ts'
import { accounts } from './stage.ts'

type Tx = TransactionOf<PrismaClient>

const samples: readonly string[] = [
  'DROP TABLE IF EXISTS image',
  'DROP TABLE IF EXISTS app_user',
  'CREATE TABLE app_user (id integer PRIMARY KEY, quota integer NOT NULL)',
  'CREATE TABLE image (id serial PRIMARY KEY, user_id integer NOT NULL REFERENCES app_user)',
  'INSERT INTO app_user VALUES (1, 2), (2, 2)',
  'INSERT INTO image (user_id) VALUES (1)',
  'DROP TABLE IF EXISTS sample',
  'DROP TYPE IF EXISTS "Kind"',
  `CREATE TYPE "Kind" AS ENUM ('Plain', 'special-kind')`,
  `CREATE TABLE sample (id integer PRIMARY KEY, price_now numeric NOT NULL, sampled_at timestamp(3) NOT NULL,
    zoned timestamptz(3) NOT NULL, day date NOT NULL, hour time NOT NULL, doc jsonb NOT NULL, count bigint NOT NULL,
    bytes bytea NOT NULL, kind "Kind" NOT NULL, tags text[] NOT NULL, amounts numeric[] NOT NULL,
    share double precision NOT NULL, code uuid NOT NULL, is_open boolean NOT NULL, note text)`,
  `INSERT INTO sample VALUES (1, 12345678901234567890.123456789, '2026-11-16 10:20:30.456',
    '2026-11-16 10:20:30.456+02', '2026-11-16', '10:20:30', '{"a": [1, null, "x"]}', 9007199254740993,
    '\\x00ff10', 'special-kind', '{a,"b c"}', '{1.10,2.5}', 0.1, '6f0c8a4e-6e0f-4d4b-9a55-0d4b7f1c2a3b', true, NULL)`,
]

describeEngines(specs, { only: ['postgres'] })

/** What only Prisma has. */
function specs(context: EngineContext): void {
  let app: PrismaOnPg
  let other: PrismaOnPg
  let locks: PrismaLocks<Tx, 'postgres'>
  let others: PrismaLocks<Tx, 'postgres'>

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of [...accounts, ...samples]) await session.run({ sql, params: [] })
    await session.close()
    app = openPrisma(context.engine.server.url)
    other = openPrisma(context.engine.server.url)
    locks = createLocks(app.prisma, app.held)
    others = createLocks(other.prisma, other.held)
  })
  afterEach(async () => {
    await Promise.all([app.close(), other.close()])
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })

  /** Whether somebody else is refused the account, which is what a lock is. */
  const isLocked = async (id: number): Promise<boolean> => {
    const skipping = others.transaction((tx) =>
      others.rows(tx, 'account', { where: { id } }, { wait: 'skip' }),
    )
    return (await skipping).length === 0
  }

  describe('rows', () => {
    test('by the name of the model are what Prisma gives, in every kind of column', async () => {
      await locks.transaction(async (tx) => {
        const [row] = await locks.rows(tx, 'sample', { where: { kind: 'Special' } })
        expect(row).toEqual(await tx.sample.findUnique({ where: { id: 1 } }))
        expect(row?.kind).toBe('Special')
        expect(row?.price.toFixed()).toBe('12345678901234567890.123456789')
        expect(row?.count).toBe(9_007_199_254_740_993n)
        expectTypeOf(row).toEqualTypeOf<
          NonNullable<Awaited<ReturnType<typeof tx.sample.findUnique>>> | undefined
        >()
      })
    })

    test('by a query have the type of what it selects', async () => {
      await locks.transaction(async (tx) => {
        const rows = await locks.rows(
          tx,
          tx.account.findMany({ where: { id: 1 }, select: { balance: true } }),
        )
        expectTypeOf(rows[0]).toEqualTypeOf<{ balance: number } | undefined>()
        expect([...rows]).toEqual([{ balance: 100 }])
        expect(await isLocked(1)).toBe(true)
        expect(await isLocked(2)).toBe(false)
      })
    })

    test('are locked, whatever else Prisma sends in the same tick', async () => {
      await locks.transaction(async (tx) => {
        const [, locked, , alike] = await Promise.all([
          tx.account.findMany({ where: { id: 1 } }),
          locks.rows(tx, 'account', { where: { id: 1 } }),
          tx.account.findUnique({ where: { id: 2 } }),
          tx.account.findMany({ where: { id: 2 } }),
        ])
        expect(locked.receipt.statements).toEqual([
          { sql: expect.stringMatching(/ FOR UPDATE$/) as string, params: [1, '0'] },
        ])
        expect(alike).toHaveLength(1)
        expect([await isLocked(1), await isLocked(2)]).toEqual([true, false])
      })
    })

    test('by several calls at once are each locked', async () => {
      await locks.transaction(async (tx) => {
        const both = await Promise.all([1, 2].map((id) => locks.rows(tx, 'account', { where: { id } })))
        expect(both.flat().map(({ id }) => id)).toEqual([1, 2])
        expect([await isLocked(1), await isLocked(2)]).toEqual([true, true])
      })
    })

    test('of one table are locked by a condition on another', async () => {
      await locks.transaction(async (tx) => {
        const rows = await locks.rows(tx, 'appUser', { where: { images: { some: {} } } })
        expect([...rows]).toEqual([{ id: 1, quota: 2 }])
      })
    })

    test('are locked by $queryRaw', async () => {
      await locks.transaction(async (tx) => {
        const query = tx.$queryRaw<{ n: number }[]>`SELECT balance_now AS n FROM account WHERE id = ${1}`
        expect([...(await locks.rows(tx, query))]).toEqual([{ n: 100 }])
        expect(await isLocked(1)).toBe(true)
      })
    })

    test('with those of a relation take a second statement, and are refused', async () => {
      const including = locks.transaction((tx) =>
        locks.rows(tx, tx.appUser.findMany({ include: { images: true } })),
      )
      await expect(including).rejects.toThrow('takes Prisma more than one statement')
    })

    test('by findFirst, which gives no list, are refused', async () => {
      const said = await locks.transaction((tx) => caught(locks.rows(tx, tx.account.findFirst() as never)))
      expect(said).toBeInstanceOf(LockUsageError)
    })

    test('that nobody would read are refused, since none would be locked', async () => {
      const said = await locks.transaction((tx) => caught(locks.rows(tx, 'account', { take: 0 })))
      expect(said).toBeInstanceOf(LockUsageError)
    })
  })

  test('a deadlock between updates of models is run again, and both are stored', async () => {
    const attempts = [0, 0]
    let haveOne = 0
    const [bothHaveOne, oneIsThrough] = [gate(), gate()]
    const crossing = async (own: PrismaLocks<Tx, 'postgres'>, index: 0 | 1): Promise<void> => {
      await own.transaction(async (tx) => {
        attempts[index] = (attempts[index] ?? 0) + 1
        // or the one that is repeated may be faster than the one that was woken, and lose again
        if ((attempts[index] ?? 0) > 1) await oneIsThrough.opened
        const ids = index === 0 ? [1, 2] : [2, 1]
        await tx.account.update({ where: { id: ids[0] as number }, data: { balance: { increment: 1 } } })
        if ((haveOne += 1) === 2) bothHaveOne.open()
        await bothHaveOne.opened
        await tx.account.update({ where: { id: ids[1] as number }, data: { balance: { increment: 1 } } })
      })
      oneIsThrough.open()
    }
    await Promise.all([crossing(locks, 0), crossing(others, 1)])
    expect(new Set(attempts)).toEqual(new Set([1, 2]))
    expect((await app.prisma.account.findMany()).map(({ balance }) => balance)).toEqual([102, 102])
  })

  test('a conflict that the work has swallowed is one all the same', async () => {
    const calling = locks.transaction(
      async (tx) => {
        await tx.account.findMany()
        await other.prisma.account.update({ where: { id: 1 }, data: { balance: 1 } })
        await tx.account.update({ where: { id: 1 }, data: { balance: 2 } }).catch(() => {})
      },
      { isolation: 'serializable', attempts: 1 },
    )
    await expect(calling).rejects.toThrow('an error in it was caught, and the database has rolled it back')
    expect(await app.prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 1 })
  })

  test('COMMIT waits for what the work has asked of Prisma and not awaited', async () => {
    await locks.transaction(async (tx) => {
      void tx.account.update({ where: { id: 1 }, data: { balance: 7 } }).then(() =>
        // asked for when the work has returned
        tx.account.update({ where: { id: 2 }, data: { balance: 8 } }).catch(() => {}),
      )
    })
    const [first] = await app.prisma.account.findMany({ where: { id: 1 } })
    expect(first?.balance).toBe(7)
  })

  test('an operation that nobody waits for, and that Prisma refuses, fails the transaction', async () => {
    const call = locks.transaction(async (tx) => {
      await tx.account.update({ where: { id: 1 }, data: { balance: 1 } })
      void caught(tx.account.update({ where: { id: 99 }, data: { balance: 1 } }))
    })
    await expect(call).rejects.toThrow('a statement that the work did not await has failed')
    expect(await app.prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 100 })
  })

  test('an operation that Prisma leaves out, since another of its tick has failed, is no success', async () => {
    const missing = { where: { id: 99 }, data: { balance: 1 } }
    const second = { where: { id: 2 }, data: { balance: 2 } }
    const answers = await locks.transaction(async (tx) =>
      Promise.allSettled([tx.account.update(missing), tx.account.update(second), tx.account.count()]),
    )
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(String(answers.map((answer) => 'reason' in answer && answer.reason))).toContain(
      'Prisma did not send this operation',
    )
    const own = await app.prisma.$transaction(async (tx) =>
      Promise.allSettled([tx.account.update(missing), tx.account.update(second)]),
    )
    expect(own[1]).toEqual({ status: 'fulfilled', value: undefined })
  })

  test('a client that disconnects meanwhile ends the transaction, and waits for nobody', async () => {
    const held = lockable(new PrismaPg({ connectionString: context.engine.server.url, max: 2 }))
    const prisma = new PrismaClient({ adapter: held.adapter })
    const own = createLocks(prisma, held)
    const call = own.transaction(async (tx) => {
      await tx.account.update({ where: { id: 1 }, data: { balance: 1 } })
      await prisma.$disconnect()
      await tx.account.update({ where: { id: 2 }, data: { balance: 2 } })
    })
    expect(await caught(call)).toBeInstanceOf(Error)
    expect(await app.prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 100 })
    expect(await own.transaction((tx) => tx.account.count())).toBe(2)
    await prisma.$disconnect()
  })

  test('an adapter is for one client', async () => {
    const second = new PrismaClient({ adapter: app.held.adapter })
    await app.prisma.$connect()
    expect(String(await caught(second.$connect()))).toContain('call lockable once for each PrismaClient')
    expect(await locks.transaction((tx) => tx.account.count())).toBe(2)
  })

  test('a client that repeats what has failed is told of the lock', async () => {
    const repeating = app.prisma.$extends({
      query: { $allOperations: async ({ args, query }) => query(args).catch(() => query(args)) },
    })
    const own = createLocks(repeating, app.held)
    const refused = await others.transaction(async (tx) => {
      await others.rows(tx, 'account', { where: { id: 1 } })
      return caught(
        own.transaction((inner) => own.rows(inner, 'account', { where: { id: 1 } }, { wait: 'nowait' })),
      )
    })
    expect(refused).toBeInstanceOf(LockNotAvailableError)
  })

  test('nested work has the terms of the outer one, and none after its end', async () => {
    let kept: Tx | undefined
    const serializable = locks.transaction(async (tx) => {
      kept = tx
      await tx.$transaction(async () => {}, { isolationLevel: 'Serializable' })
    })
    await expect(serializable).rejects.toThrow('a nested transaction has the isolation level')
    await expect(kept?.$transaction(async () => {})).rejects.toThrow('the transaction has ended')
  })

  test('a list of queries would be another transaction, and is refused', async () => {
    const calling = locks.transaction((tx) =>
      tx.$transaction([tx.account.update({ where: { id: 1 }, data: { balance: 7 } })]),
    )
    await expect(calling).rejects.toThrow('$transaction of a list is another transaction')
    expect(await app.prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 100 })
  })

  test('the timeout of Prisma’s own transactions does not end ours', async () => {
    const prisma = new PrismaClient({
      adapter: app.held.adapter,
      transactionOptions: { timeout: 1, maxWait: 1 },
    })
    const own = createLocks(prisma, app.held)
    const rows = await own.transaction(async (tx) => {
      // begun after it, and ended before it
      const alone = prisma.$transaction((its) =>
        until(async () => (await caught(its.account.findMany())) instanceof Error, 'Prisma has ended it'),
      )
      await expect(alone).rejects.toMatchObject({ code: 'P2028' })
      await tx.account.update({ where: { id: 1 }, data: { balance: 1 } })
      return own.rows(tx, 'account', { where: { id: 1 } })
    })
    expect(rows).toHaveLength(1)
    await prisma.$disconnect()
  })

  test('a client with extensions keeps them in the transaction, and may carry the locks', async () => {
    const extended = app.prisma.$extends({
      client: { $locks: locks },
      result: { account: { isEmpty: { needs: { balance: true }, compute: ({ balance }) => balance === 0 } } },
    })
    const own = createLocks(extended, app.held)
    await own.transaction(async (tx) => {
      const [row] = await own.rows(tx, 'account', { where: { id: 1 } })
      expect(row?.isEmpty).toBe(false)
      expect((await tx.account.findFirst())?.isEmpty).toBe(false)
    })
    expect(await extended.$locks.transaction((tx) => extended.$locks.rows(tx, 'account', {}))).toHaveLength(2)
  })

  test('a pool that Prisma opens itself is found, also after Prisma has opened another', async () => {
    const held = lockable(new PrismaPg({ connectionString: context.engine.server.url, max: 2 }))
    const prisma = new PrismaClient({ adapter: held.adapter })
    const own = createLocks(prisma, held)
    for (let round = 0; round < 2; round += 1) {
      expect(await own.transaction((tx) => own.rows(tx, 'account', { where: { id: 1 } }))).toHaveLength(1)
      await prisma.$disconnect()
    }
  })

  describe('is refused', () => {
    test('a client that was made with another adapter', async () => {
      const held = lockable(new PrismaPg(app.pool))
      const never = createLocks(app.prisma, held).transaction(async (tx) => tx.account.findMany())
      await expect(never).rejects.toThrow('is not what the client was made with')
    })

    test('what is no client, and an adapter that is not known', () => {
      expect(() => createLocks({} as never, app.held)).toThrow('@prisma/client 7.10 is known to work')
      const adapter = { provider: 'postgres', adapterName: '@prisma/adapter-neon', connect: async () => ({}) }
      expect(() => lockable(adapter)).toThrow('@prisma/adapter-better-sqlite3 7.10 are known to work')
    })

    test('an adapter that is made otherwise than expected', async () => {
      const adapter = new PrismaPg(app.pool)
      const strange = Object.assign(Object.create(adapter) as PrismaPg, {
        connect: async () => Object.assign(await adapter.connect(), { client: {} }),
      })
      const prisma = new PrismaClient({ adapter: lockable(strange).adapter })
      await expect(prisma.$connect()).rejects.toThrow('is not made as expected')
    })
  })

  test.each(['a\0b', 'a\0 of a longer text'])('a text with a NUL character is run once: %j', async (text) => {
    const ways: readonly ((tx: Tx) => Promise<unknown>)[] = [
      (tx) => tx.$executeRawUnsafe(`update account set balance = 0 -- ${text}`),
      (tx) => tx.$queryRawUnsafe('select $1::text', text),
      (tx) => tx.sample.updateMany({ data: { note: text } }),
      // and one with too few values
      (tx) => tx.$queryRawUnsafe('select $1::text, $2::text', 'a'),
    ]
    for (const way of ways) {
      let runs = 0
      const said = await caught(
        locks.transaction((tx) => {
          runs += 1
          return way(tx)
        }),
      )
      expect(said).toBeInstanceOf(Error)
      expect(classifyError(said)).toMatchObject({ kind: 'other', retryable: false, transaction: 'aborted' })
      expect(runs).toBe(1)
    }
  })

  test('with pipeline, the lock travels with the first statement that Prisma sends', async () => {
    const proxy = await startProxy(context.engine.server.url, postgresProtocol)
    const piped = openPrisma(proxy.url, 1)
    const own = createLocks(piped.prisma, piped.held, { pipeline: true })
    const work = (balance: number) =>
      own.withLock(['piped'], (tx) => tx.account.update({ where: { id: 1 }, data: { balance } }))
    await work(1) // logs in, and asks the server once what it is
    const trips = await proxy.during(() => work(2))
    await piped.close()
    await proxy.close()
    expect(trips).toEqual([expect.stringMatching(/^BEGIN.*pg_advisory_xact_lock.*; UPDATE /), 'COMMIT'])
    expect(await app.prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 2 })
  })
}
