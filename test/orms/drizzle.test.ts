import { expect, test } from 'vitest'

import { createLocks } from '../../src/entries/drizzle.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { drizzle, openDrizzle, openSingle } from './drizzle.ts'
import { accounts } from './stage.ts'

describeEngines(specs, { only: drizzle.engines })

/** As every database's own types have it. */
interface Nesting {
  transaction(work: () => Promise<void>, terms: object): Promise<void>
}

/** What only Drizzle has. */
function specs(context: EngineContext): void {
  test('findFirst, which gives no list, is refused', async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
    const { db, close } = openDrizzle(context.name, context.engine.server.url, 4)
    const locks = createLocks(db)
    const said = await locks.transaction(async (tx) => {
      const query = tx.query.account.findFirst() as object
      return caught(locks.rows(tx, query as never))
    })
    expect(said).toMatchObject({ name: 'LockUsageError', field: 'query' })
    expect(await locks.transaction(async (tx) => locks.rows(tx, tx.query.account.findMany()))).toHaveLength(2)
    await close()
  })

  test.skipIf(context.name === 'sqlite')('nested work has the terms of the outer one', async () => {
    const { db, close } = openDrizzle(context.name, context.engine.server.url, 4)
    const nested = createLocks(db).transaction(async (tx) =>
      (tx as unknown as Nesting).transaction(async () => {}, { isolationLevel: 'serializable' }),
    )
    await expect(nested).rejects.toThrow('a nested transaction has the isolation level')
    await close()
  })

  test.skipIf(context.name === 'sqlite')(
    'a single connection is refused when the locks are created',
    async () => {
      const { db, close } = await openSingle(context.name, context.engine.server.url)
      expect(() => createLocks(db)).toThrow('is on a single connection: give drizzle a pool')
      await close()
    },
  )
}
