import { AsyncLocalStorage } from 'node:async_hooks'

import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { lockPlugin } from '../../src/adapters/kysely/plugin.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines } from '../engines/use.ts'
import { createBank } from './bank.ts'
import { plansOf } from './compile.ts'
import type { Database } from './database.ts'
import { lockedQueries, type Lock } from './locked-queries.ts'
import { connectKysely } from './real-kysely.ts'

const exclusive: Lock = (query, of) => query.forUpdate(of)

describeEngines(
  (context) => {
    const begun = new AsyncLocalStorage<string>()
    let db: Kysely<Database>
    let unchecked: Kysely<Database>
    let other: EngineSession

    beforeAll(async () => {
      await createBank(context)
      const { server } = context.engine
      const planFor = plansOf({ dialect: 'sqlite', version: server.version })
      db = connectKysely(server, [
        lockPlugin({
          planFor,
          requireTransaction: ({ begin }) => {
            if (begun.getStore() !== begin) throw new LockUsageError('transaction', `needs BEGIN ${begin}`)
          },
        }),
      ])
      unchecked = connectKysely(server, [lockPlugin({ planFor })])
      other = await context.engine.open()
    })
    afterAll(async () => {
      await Promise.all([other.close(), db.destroy(), unchecked.destroy()])
    })

    const within = (mode: string, work: (db: Kysely<Database>) => Promise<void>): Promise<void> =>
      db.connection().execute(async (connection) => {
        await sql`begin ${sql.raw(mode)}`.execute(connection)
        try {
          await begun.run(mode, () => work(connection))
        } finally {
          await sql`rollback`.execute(connection)
        }
      })

    test.each(lockedQueries)(
      '$title is read while the transaction keeps every other writer out',
      async ({ run }) => {
        await within('IMMEDIATE', async (tx) => {
          await run(tx, exclusive)
          await expect(other.begin('IMMEDIATE')).rejects.toMatchObject({ code: 'SQLITE_BUSY' })
        })
        await other.begin('IMMEDIATE')
        await other.rollback()
      },
    )

    test('a query that locks is refused in a transaction that is not the lock, which would let another writer in', async () => {
      await within('DEFERRED', async (tx) => {
        await tx.selectFrom('account').selectAll().execute()
        await other.begin('IMMEDIATE')
        await other.rollback()
        await expect(tx.selectFrom('account').selectAll().forUpdate().execute()).rejects.toMatchObject({
          field: 'transaction',
        })
      })
    })

    test('a query that locks is refused outside of a transaction', async () => {
      await expect(db.selectFrom('account').selectAll().forShare().execute()).rejects.toMatchObject({
        field: 'transaction',
      })
    })

    test('a query that locks is refused where nobody can tell what transaction it runs in', async () => {
      await expect(unchecked.selectFrom('account').selectAll().forUpdate().execute()).rejects.toMatchObject({
        field: 'transaction',
      })
      expect(await unchecked.selectFrom('account').select('id').where('id', '=', 1).execute()).toEqual([
        { id: 1 },
      ])
    })

    test('without the plugin the database does not know the words', async () => {
      await expect(
        db.withoutPlugins().selectFrom('account').selectAll().forUpdate().execute(),
      ).rejects.toThrow(/syntax error/)
    })
  },
  { only: ['sqlite'] },
)
