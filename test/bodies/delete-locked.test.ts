import { Kysely, type DeleteQueryBuilder, type DeleteResult, type Transaction } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks, type KyselyLocks } from '../../src/entries/kysely.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

interface Shop {
  offer: { id: number }
  sold: { id: number }
}

type Tx = Transaction<Shop>
type Delete = DeleteQueryBuilder<Shop, 'offer', DeleteResult>

/** Deletes the offers that are sold. What is sold has to stay. */
const deletes: readonly (readonly [string, (tx: Tx) => Delete])[] = [
  [
    'IN',
    (tx) =>
      tx.deleteFrom('offer').where('id', 'in', (eb) => eb.selectFrom('sold').select('sold.id').forUpdate()),
  ],
  [
    'EXISTS',
    (tx) =>
      tx
        .deleteFrom('offer')
        .where((eb) =>
          eb.exists(eb.selectFrom('sold').select('sold.id').whereRef('sold.id', '=', 'offer.id').forUpdate()),
        ),
  ],
  [
    'IN, built by the instance itself',
    (tx) => tx.deleteFrom('offer').where('id', 'in', tx.selectFrom('sold').select('sold.id').forUpdate()),
  ],
]

describe('a DELETE whose condition locks other rows', () => {
  describeEngines(specs, { only: Object.keys(dialects) })
})

function specs(context: EngineContext): void {
  const name = context.name as ServerName
  let db: Kysely<Shop>
  let locks: KyselyLocks<Tx, ServerName>
  beforeAll(async () => {
    db = new Kysely<Shop>({ dialect: dialects[name](context.engine.server.url) })
    locks = createLocks(db, { dialect: name })
    for (const table of ['offer', 'sold'])
      await db.schema
        .createTable(table)
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .execute()
  })
  beforeEach(async () => {
    for (const table of ['offer', 'sold'] as const) {
      await db.deleteFrom(table).execute()
      await db
        .insertInto(table)
        .values([{ id: 1 }, { id: 2 }])
        .execute()
    }
  })
  afterAll(() => db.destroy())

  test.each(deletes)('by %s is refused, or deletes its own rows alone', async (_, build) => {
    const said = await caught(locks.transaction((tx) => build(tx).execute()))
    if (name === 'mysql') expect(said).toBeInstanceOf(LockUsageError)
    else expect(said).toBe('no error')
    expect(await db.selectFrom('sold').select('id').execute()).toHaveLength(2)
    expect(await db.selectFrom('offer').select('id').execute()).toHaveLength(name === 'mysql' ? 2 : 0)
  })
}
