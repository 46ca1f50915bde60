import { CamelCasePlugin, Kysely, type Transaction } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks, type KyselyLocks } from '../../src/entries/kysely.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

interface Bank {
  account: { id: number; balance: number }
}

type Tx = Transaction<Bank>

/** Whatever Kysely makes of an instance is another instance. */
const derivations: readonly (readonly [string, (tx: Tx) => Tx])[] = [
  ['withPlugin', (tx) => tx.withPlugin(new CamelCasePlugin())],
  ['withoutPlugins', (tx) => tx.withoutPlugins()],
  ['withTables', (tx) => tx.withTables<{ other: { id: number } }>()],
  ['withSchema', (tx) => tx.withSchema('public')],
  ['one made of another', (tx) => tx.withoutPlugins().withPlugin(new CamelCasePlugin()).withTables()],
]

describe('what is derived from a tx', () => {
  describeEngines(specs, { only: Object.keys(dialects) })
})

function specs(context: EngineContext): void {
  const name = context.name as ServerName
  let db: Kysely<Bank>
  let locks: KyselyLocks<Tx, ServerName>
  beforeAll(async () => {
    db = new Kysely<Bank>({ dialect: dialects[name](context.engine.server.url) })
    locks = createLocks(db, { dialect: name })
    await db.schema
      .createTable('account')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('balance', 'integer')
      .execute()
    await db.insertInto('account').values({ id: 1, balance: 100 }).execute()
  })
  afterAll(() => db.destroy())

  /** The usual helper: a part of the caller's transaction, or one of its own. */
  const inTransaction = <T>(given: Kysely<Bank>, work: (tx: Kysely<Bank>) => Promise<T>): Promise<T> =>
    given.isTransaction ? work(given) : given.transaction().execute(work)

  describe.each(derivations)('by %s', (how, derive) => {
    const isElsewhere = how === 'withSchema' && name !== 'postgres'

    test.skipIf(isElsewhere)('is the same transaction: what it writes is rolled back with it', async () => {
      const ofWork = new Error('of the work')
      const said = await caught(
        locks.transaction(async (tx) => {
          await inTransaction(derive(tx), (same) =>
            same.updateTable('account').set({ balance: 0 }).where('id', '=', 1).execute(),
          )
          throw ofWork
        }),
      )
      expect(said).toBe(ofWork)
      expect(await db.selectFrom('account').select('balance').executeTakeFirst()).toEqual({ balance: 100 })
    })

    test.skipIf(isElsewhere)('takes locks, and neither begins a transaction nor ends the pool', async () => {
      await locks.transaction(async (tx) => {
        const derived = derive(tx)
        expect(derived.isTransaction).toBe(true)
        expect(() => derived.transaction()).toThrow(LockUsageError)
        expect(() => void derived.destroy()).toThrow(LockUsageError)
        const rows = await locks.rows(derived, derived.selectFrom('account').selectAll())
        expect(rows).toHaveLength(1)
      })
    })

    test('is refused when the transaction has ended', async () => {
      const late = await locks.transaction(async (tx) => derive(tx))
      expect(await caught(late.selectFrom('account').selectAll().execute())).toBeInstanceOf(LockUsageError)
      const compiled = db.selectFrom('account').selectAll().compile()
      await locks.transaction(async (tx) => {
        await tx.selectFrom('account').selectAll().execute()
        expect(() => void late.executeQuery(compiled)).toThrow(LockUsageError)
      })
    })
  })
}
