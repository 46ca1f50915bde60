import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest'

import { createLocks, lockable } from '../../src/entries/prisma.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { openPrismaOnSqlite } from './prisma.ts'
import { PrismaClient } from './prisma/sqlite/client.ts'
import { accounts } from './stage.ts'

const samples: readonly string[] = [
  'DROP TABLE IF EXISTS sample',
  `CREATE TABLE sample (id INTEGER PRIMARY KEY, price_now DECIMAL NOT NULL, sampled_at DATETIME NOT NULL,
    doc JSONB NOT NULL, count BIGINT NOT NULL, bytes BLOB NOT NULL, share REAL NOT NULL, is_open BOOLEAN NOT NULL,
    note TEXT)`,
]

describeEngines(specs, { only: ['sqlite'] })

/** What only Prisma has, and only on SQLite. */
function specs(context: EngineContext): void {
  let app: ReturnType<typeof openPrismaOnSqlite>

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of [...accounts, ...samples]) await session.run({ sql, params: [] })
    await session.close()
    app = openPrismaOnSqlite(context.engine.server.url)
  })
  afterEach(() => app.close())

  test('rows by the name of the model are what Prisma gives, in every kind of column', async () => {
    const { prisma, held } = app
    const locks = createLocks(prisma, held)
    await prisma.sample.create({
      data: {
        id: 1,
        price: '12.34',
        at: new Date('2026-11-16T10:20:30.456Z'),
        doc: { a: [1, null, 'x'] },
        count: 9_007_199_254_740_993n,
        bytes: new Uint8Array([0, 255, 16]),
        share: 0.1,
        isOpen: true,
      },
    })
    await locks.transaction(async (tx) => {
      const [row] = await locks.rows(tx, 'sample', { where: { id: 1 } })
      expect(row).toEqual(await tx.sample.findUnique({ where: { id: 1 } }))
      expect(row?.count).toBe(9_007_199_254_740_993n)
      expectTypeOf(row?.isOpen).toEqualTypeOf<boolean | undefined>()
      // @ts-expect-error SQLite has no skip
      await expect(locks.rows(tx, 'account', {}, { wait: 'skip' })).rejects.toThrow('skip')
    })
  })

  test('what Prisma writes outside of a transaction that fails is not lost with it', async () => {
    const { prisma, held } = app
    const locks = createLocks(prisma, held)
    const failing = locks.transaction(async (tx) => {
      await tx.account.findMany()
      await expect(prisma.account.update({ where: { id: 1 }, data: { balance: 7 } })).rejects.toThrow()
      throw new Error('mine')
    })
    await expect(failing).rejects.toThrow('mine')
    await prisma.account.update({ where: { id: 1 }, data: { balance: 8 } })
    expect(await prisma.account.findUnique({ where: { id: 1 } })).toEqual({ id: 1, balance: 8 })
  })

  test('a database in memory is refused: every handle would have its own', async () => {
    const held = lockable(new PrismaBetterSqlite3({ url: ':memory:' }))
    const prisma = new PrismaClient({ adapter: held.adapter })
    const calling = createLocks(prisma, held).transaction(async () => {})
    await expect(calling).rejects.toThrow('a database in memory is another one for every handle')
    await prisma.$disconnect()
  })
}
