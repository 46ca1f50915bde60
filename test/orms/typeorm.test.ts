import { setTimeout as pause } from 'node:timers/promises'

import { DataSource, type EntityManager, type EntitySubscriberInterface } from 'typeorm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import {
  createLocks,
  type TypeormDialectName,
  type TypeormLocks,
  type TypeormSource,
} from '../../src/entries/typeorm.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { accounts } from './stage.ts'
import { account, openTypeorm, typeorm } from './typeorm.ts'

describeEngines(specs, { only: typeorm.engines })

/** What only TypeORM has. */
function specs(context: EngineContext): void {
  let source: DataSource
  let locks: TypeormLocks<EntityManager, TypeormDialectName>

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
    source = await openTypeorm(context.name, context.engine.server.url, 4)
    locks = createLocks(source)
  })

  afterEach(async () => {
    await source.destroy()
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })

  test.each(['commitTransaction', 'rollbackTransaction', 'release'] as const)(
    '%s of the query runner is refused, and nothing is stored',
    async (end) => {
      const ending = locks.transaction(async (tx) => {
        await tx.insert(account, { id: 3, balance: 1 })
        await tx.queryRunner?.[end]()
      })
      await expect(ending).rejects.toThrow(`${end} must not be called by the work`)
      expect(await source.manager.countBy(account, { id: 3 })).toBe(0)
    },
  )

  test('an entity is saved in the transaction, and with it undone', async () => {
    const failing = locks.transaction(async (tx) => {
      await tx.getRepository(account).save({ id: 3, balance: 1 })
      expect(await tx.findOneByOrFail(account, { id: 3 })).toEqual({ id: 3, balance: 1 })
      throw new Error('mine')
    })
    await expect(failing).rejects.toThrow('mine')
    expect(await source.manager.countBy(account, { id: 3 })).toBe(0)
  })

  describe('a call of the manager that nobody waits for', () => {
    const subscriber = (events: EntitySubscriberInterface): void => void source.subscribers.push(events)

    test('is stored, whatever a subscriber waits for', async () => {
      subscriber({ beforeInsert: () => pause(1) })
      await locks.transaction(async (tx) => {
        void tx.save(account, [
          { id: 3, balance: 1 },
          { id: 4, balance: 1 },
        ])
      })
      expect(await source.manager.count(account)).toBe(4)
    })

    test('fails the transaction when a subscriber fails', async () => {
      subscriber({
        afterInsert: async () => {
          await pause(1)
          throw new Error('of the subscriber')
        },
      })
      const call = locks.transaction(async (tx) => {
        void caught(tx.save(account, { id: 3, balance: 1 }))
      })
      await expect(call).rejects.toThrow('a statement that the work did not await has failed')
      expect(await source.manager.count(account)).toBe(2)
    })
  })

  test('nested work has the isolation level of the outer one', async () => {
    const other = locks.transaction(async (tx) => tx.queryRunner?.startTransaction('SERIALIZABLE'))
    await expect(other).rejects.toThrow('a nested transaction has the isolation level')
  })

  test('the same SELECT locks as often as it is asked for', async () => {
    await locks.transaction(async (tx) => {
      const one = () => locks.rows(tx, tx.createQueryBuilder(account, 'a').where({ id: 1 }))
      expect(await one()).toHaveLength(1)
      await tx.update(account, { id: 1 }, { balance: 7 })
      expect([...(await one())]).toEqual([{ id: 1, balance: 7 }])
    })
  })

  test('a level for nested work, which TypeORM leaves out without a word, is refused', async () => {
    const said = await locks.transaction(async (tx) => caught(tx.transaction('SERIALIZABLE', async () => {})))
    expect(said).toMatchObject({ name: 'LockUsageError', field: 'isolation' })
  })

  test('nested work ends by hand as well', async () => {
    await locks.transaction(async (tx) => {
      await tx.queryRunner?.startTransaction()
      await tx.update(account, { id: 1 }, { balance: 7 })
      await tx.queryRunner?.rollbackTransaction()
      await tx.update(account, { id: 2 }, { balance: 8 })
    })
    expect((await source.manager.find(account, { order: { id: 1 } })).map(({ balance }) => balance)).toEqual([
      100, 8,
    ])
  })

  test('a data source that is not initialized is refused when the locks are created', () => {
    expect(() => createLocks(new DataSource(source.options))).toThrow('await its initialize() first')
  })
}

describe('what is not a data source that Holdfast knows is refused when the locks are created', () => {
  const known = {
    options: { type: 'postgres' },
    isInitialized: true,
    driver: {},
    manager: {},
    createQueryRunner: () => {},
  }

  test('another database', () => {
    const source = { ...known, options: { type: 'mongodb' } }
    expect(() => createLocks(source)).toThrow('its type mongodb is not one of')
  })

  test.each<[string, Partial<TypeormSource>]>([
    ['no pool', { driver: {} }],
    ['no query runners', { driver: { master: { connect: () => {} } } }],
  ])('another TypeORM: %s', (_, differs) => {
    expect(() => createLocks({ ...known, ...differs })).toThrow('typeorm 1.1 is known to work')
  })
})
