import type { Transaction } from 'sequelize'
import { expect, test } from 'vitest'

import { createLocks } from '../../src/entries/sequelize.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { openSequelize, sequelizeOrm } from './sequelize.ts'
import { modelsOf, sequelizeOn } from './sequelize-stage.ts'

describeEngines(specs, { only: sequelizeOrm.engines })

/** What Sequelize's `afterCommit` is given. */
function specs(context: EngineContext): void {
  const stage = sequelizeOn(context)

  test('what afterCommit is given is called when all is stored, with the connection given back', async () => {
    const sequelize = openSequelize(context.name, context.engine.server.url, 1)
    const { Account } = modelsOf(sequelize)
    const seen: (readonly [string, number])[] = []
    const note = (name: string) => async () => void seen.push([name, await Account.count()])
    await createLocks(sequelize).transaction(async (tx) => {
      await sequelize.transaction({ transaction: tx }, async (inner) => {
        inner.afterCommit(note('nested'))
        await Account.create({ id: 3, balance: 1 }, { transaction: inner })
      })
      const undone = sequelize.transaction({ transaction: tx }, async (inner) => {
        inner.afterCommit(note('undone'))
        throw new Error('mine')
      })
      await expect(undone).rejects.toThrow('mine')
      tx.afterCommit(note('outer'))
      await Account.create({ id: 4, balance: 1 }, { transaction: tx })
    })
    expect(seen).toEqual([
      ['nested', 4],
      ['outer', 4],
    ])
    await sequelize.close()
  })

  test('a hook that fails does not run the work again, and its error says that all is stored', async () => {
    const { locks, Account } = stage()
    const deadlock = Object.assign(new Error('of another'), { code: '40P01', errno: 1213 })
    let runs = 0
    const error = await caught(
      locks.transaction(async (tx) => {
        runs += 1
        tx.afterCommit(() => Promise.reject(deadlock))
        await Account.create({ id: 3, balance: 1 }, { transaction: tx })
      }),
    )
    expect(error).toMatchObject({ name: 'LockUsageError', isStored: true, cause: deadlock })
    expect([runs, await Account.count()]).toEqual([1, 3])
  })

  test.runIf(context.name === 'postgres')(
    'of a transaction that is not stored no hook is called',
    async () => {
      const { locks, sequelize } = stage()
      let calls = 0
      const work = async (tx: Transaction): Promise<void> => {
        tx.afterCommit(() => void (calls += 1))
        await caught(sequelize.query('select 1/0', { transaction: tx }))
      }
      await expect(locks.transaction(work)).rejects.toThrow()
      expect(calls).toBe(0)
      // Sequelize alone calls it
      await sequelize.transaction(work)
      expect(calls).toBe(1)
    },
  )
}
