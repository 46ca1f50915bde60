import type { Kysely, Transaction } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { lockPlugin } from '../../src/adapters/kysely/plugin.ts'
import { classifyError } from '../../src/classify.ts'
import type { DialectName } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until } from '../engines/use.ts'
import { createBank, lockedRows } from './bank.ts'
import { plansOf } from './compile.ts'
import type { Database } from './database.ts'
import { lockedQueries, ownNameQuery, type Lock } from './locked-queries.ts'
import { connectKysely } from './real-kysely.ts'

const exclusive: Lock = (query, of) => query.forUpdate(of)
const noLock: Lock = (query) => query
const nothingLeft = new Error('rolled back by the spec')

describeEngines(
  (context) => {
    let db: Kysely<Database>
    let observer: EngineSession

    beforeAll(async () => {
      await createBank(context)
      const { server } = context.engine
      const planFor = plansOf({ dialect: context.name as DialectName, version: server.version })
      db = connectKysely(server, [lockPlugin({ planFor })])
      observer = await context.engine.open()
    })
    afterEach(() =>
      until(async () => (await context.engine.leftovers()).length === 0, 'the server holds nothing'),
    )
    afterAll(async () => {
      await observer.close()
      await db.destroy()
    })

    /** What is locked while a transaction that has run `work` is open. It is rolled back afterwards. */
    const lockedBy = async (
      work: (tx: Transaction<Database>) => Promise<unknown>,
      clause?: string,
    ): Promise<readonly string[]> => {
      let locked: readonly string[] = []
      // at a higher level InnoDB locks what a writing statement reads, with or without a lock
      const attempt = db
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (tx) => {
          await work(tx)
          locked = await lockedRows(observer, clause)
          throw nothingLeft
        })
      await expect(attempt).rejects.toBe(nothingLeft)
      return locked
    }
    const hasOf = context.name !== 'mariadb'

    describe.each([...lockedQueries, ownNameQuery])(
      '$title',
      ({ run, locked, lockedWithoutOf, written = [] }) => {
        test('is locked, and nothing else', async () => {
          expect(await lockedBy((tx) => run(tx, exclusive))).toEqual(
            hasOf ? locked : (lockedWithoutOf ?? locked),
          )
        })

        test('is not locked without the lock', async () => {
          expect(await lockedBy((tx) => run(tx, noLock))).toEqual(written)
        })
      },
    )

    test.each(['forShare', 'forKeyShare'] as const)(
      '%s lets others share and keeps writers out',
      async (method) => {
        const work = (tx: Transaction<Database>): Promise<unknown> =>
          tx.selectFrom('account').selectAll().where('id', '=', 1)[method]().execute()
        const shared = context.name === 'mariadb' ? 'LOCK IN SHARE MODE' : 'FOR SHARE'
        expect(await lockedBy(work)).toEqual(['account 1'])
        expect(await lockedBy(work, shared)).toEqual([])
      },
    )

    test('skipLocked passes over the rows of another transaction', async () => {
      const claim = (tx: Kysely<Database>): Promise<{ id: number } | undefined> =>
        tx
          .selectFrom('account')
          .select('id')
          .orderBy('id')
          .limit(1)
          .forUpdate()
          .skipLocked()
          .executeTakeFirst()
      await db.transaction().execute(async (first) => {
        expect(await claim(first)).toEqual({ id: 1 })
        await db
          .transaction()
          .setIsolationLevel('read committed')
          .execute(async (second) => expect(await claim(second)).toEqual({ id: 2 }))
      })
    })

    test('noWait fails at once on a row of another transaction', async () => {
      const take = (tx: Kysely<Database>): Promise<unknown> =>
        tx.selectFrom('account').selectAll().where('id', '=', 1).forUpdate().noWait().execute()
      await db.transaction().execute(async (first) => {
        await take(first)
        const second = db.transaction().execute(take)
        const error: unknown = await second.then(
          () => undefined,
          (reason: unknown) => reason,
        )
        expect(['lock-not-available', 'lock-timeout']).toContain(classifyError(error).kind)
      })
    })

    test('a second transaction waits until the first ends', async () => {
      const order: string[] = []
      const take = (tx: Kysely<Database>): Promise<unknown> =>
        tx.selectFrom('account').selectAll().where('id', '=', 1).forUpdate().execute()
      const waiter = await context.engine.open()
      await waiter.begin()
      let waiting: Promise<unknown> = Promise.resolve()
      await db.transaction().execute(async (first) => {
        await take(first)
        const { sql, parameters } = db
          .selectFrom('account')
          .selectAll()
          .where('id', '=', 1)
          .forUpdate()
          .compile()
        waiting = waiter.run({ sql, params: parameters as number[] }).then(() => order.push('second'))
        await until(() => context.engine.isWaiting(waiter), 'the second waits for the row')
        order.push('first')
      })
      await waiting
      expect(order).toEqual(['first', 'second'])
      await waiter.rollback()
      await waiter.close()
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)

describeEngines(
  (context) => {
    test('without the plugin the server does not even know the words of a shared lock', async () => {
      await createBank(context)
      const db = connectKysely(context.engine.server)
      await expect(db.selectFrom('account').selectAll().forShare().execute()).rejects.toMatchObject({
        errno: 1064,
      })
      await db.destroy()
    })
  },
  { only: ['mariadb'] },
)
