import { EntitySchema } from '@mikro-orm/postgresql'
import { expect, test } from 'vitest'

import { createLocks as createMikroOrmLocks } from '../../src/entries/mikro-orm.ts'
import { createLocks as createSequelizeLocks } from '../../src/entries/sequelize.ts'
import type { Receipt } from '../../src/core/receipt.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { openMikroOrm } from '../orms/mikro-orm.ts'
import { openSequelize } from '../orms/sequelize.ts'

const shelf = new EntitySchema<{ readonly id: number }>({
  name: 'Shelf',
  tableName: 'shelf_of_books',
  properties: { id: { type: 'integer', primary: true, autoincrement: false } },
})

function sentFor({ statements }: Receipt): readonly unknown[] {
  return statements.map((statement) => ('sql' in statement ? statement.sql : statement))
}

async function makeTable({ engine }: EngineContext): Promise<void> {
  const session = await engine.open()
  await session.run({ sql: 'DROP TABLE IF EXISTS shelf_of_books', params: [] })
  await session.run({ sql: 'CREATE TABLE shelf_of_books (id INTEGER PRIMARY KEY)', params: [] })
  await session.close()
}

describeEngines(
  (context) => {
    test('a model of Sequelize is locked by the name of its table', async () => {
      await makeTable(context)
      const sequelize = openSequelize('postgres', context.engine.server.url, 1)
      const model = sequelize.define('shelf', {}, { tableName: 'shelf_of_books' })
      const inSchema = sequelize.define('shelf2', {}, { tableName: 'shelf_of_books', schema: 'public' })
      const locks = createSequelizeLocks(sequelize)
      const receipts = await locks.transaction(async (tx) => [
        await locks.table(tx, model, { mode: 'shared' }),
        await locks.table(tx, inSchema),
        await locks.table(tx, 'shelf_of_books'),
      ])
      await sequelize.close()
      expect(receipts.flatMap(sentFor)).toEqual([
        'LOCK TABLE "shelf_of_books" IN SHARE MODE',
        'LOCK TABLE "public"."shelf_of_books" IN EXCLUSIVE MODE',
        'LOCK TABLE "shelf_of_books" IN EXCLUSIVE MODE',
      ])
    })

    test('an entity of MikroORM is locked by the name of its table', async () => {
      await makeTable(context)
      const orm = await openMikroOrm(context.engine.server.url, 1, [shelf])
      const locks = createMikroOrmLocks(orm)
      const receipts = await locks.transaction(async (tx) => [
        await locks.table(tx, shelf),
        await locks.table(tx, 'shelf_of_books'),
      ])
      await orm.close()
      const sent = 'LOCK TABLE "shelf_of_books" IN EXCLUSIVE MODE'
      expect(receipts.flatMap(sentFor)).toEqual([sent, sent])
    })
  },
  { only: ['postgres'] },
)
