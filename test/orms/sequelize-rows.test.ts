import { Model, Op, Sequelize, type Transaction } from 'sequelize'
import { expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/sequelize.ts'
import { unwrap } from '../../src/core/unwrap.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { openSequelize, sequelizeOrm } from './sequelize.ts'
import { modelsOf, sequelizeOn } from './sequelize-stage.ts'

describeEngines(specs, { only: sequelizeOrm.engines })

/** Ways to read that only Sequelize has. */
function specs(context: EngineContext): void {
  const stage = sequelizeOn(context)
  const isPostgres = context.name === 'postgres'

  /** Whether another can have the row. */
  const isFree = async (table: 'account' | 'note', id: number): Promise<boolean> => {
    const other = openSequelize(context.name, context.engine.server.url, 1)
    const own = createLocks(other)
    const taking = own.transaction((tx) => own.rows(tx, { table, key: { id } }, { wait: 'nowait' }), {
      attempts: 1,
    })
    const said = await caught(taking)
    await other.close()
    return said === 'no error'
  }

  test("rows are the model's own instances, which can be changed in the transaction", async () => {
    const { locks, Account } = stage()
    await locks.transaction(async (tx) => {
      const [row] = await locks.rows(tx, Account, { where: { id: 1 } })
      expect(row).toBeInstanceOf(Account)
      expect(row).toBeInstanceOf(Model)
      await row?.update({ balance: 7 }, { transaction: tx })
    })
    expect(await Account.findByPk(1)).toMatchObject({ id: 1, balance: 7 })
  })

  test.each(["O'Brien", 'a; b', 'a \\ b', "\\' -- ", '/* "x" */ `y`', "'' FOR UPDATE", 'one\ntwo', '$$'])(
    'a value is no part of the statement: %j',
    async (text) => {
      const { locks, Note } = stage()
      await Note.create({ id: 3, accountId: 2, text })
      await locks.transaction(async (tx) => {
        const rows = await locks.rows(tx, Note, { where: { text: { [Op.in]: [text] } } })
        expect(rows.map((row) => row.text)).toEqual([text])
        expect(await isFree('note', 3)).toBe(false)
        expect(await isFree('note', 1)).toBe(true)
      })
    },
  )

  test('options of the lock among those of findAll, which Sequelize would leave out, are refused', async () => {
    const { locks, Account } = stage()
    const call = locks.transaction((tx) => locks.rows(tx, Account, { wait: 'nowait' } as never))
    await expect(call).rejects.toThrow('wait: belongs behind the options of findAll')
  })

  test('scopes, hooks, order, limit and attributes are those of findAll', async () => {
    const { locks, Account, Note } = stage()
    Note.addScope('ofFirst', { where: { accountId: 1 } })
    Note.addHook('beforeFind', (options) => void Object.assign(options, { limit: 1 }))
    await locks.transaction(async (tx) => {
      // a hook may read in the same transaction
      Note.addHook('beforeFind', async () => void (await Account.count({ transaction: tx })))
      const find = { order: [['id', 'DESC']] as [string, string][], attributes: ['id'] }
      const rows = await locks.rows(tx, Note.scope('ofFirst'), find)
      expect(rows.map((row) => row.get({ plain: true }))).toEqual([{ id: 2 }])
      expect(rows.receipt.statements).toHaveLength(1)
    })
  })

  test('rows of an association that are in the same statement are locked as well', async () => {
    const { locks, Account, Note } = stage()
    await locks.transaction(async (tx) => {
      const find = { where: { id: 1 }, include: [{ model: Account, required: true }] }
      const [note] = await locks.rows(tx, Note, find)
      expect(note?.get({ plain: true })).toMatchObject({ id: 1, account: { id: 1, balance: 100 } })
      expect([await isFree('note', 1), await isFree('account', 1)]).toEqual([false, false])
      expect([await isFree('note', 2), await isFree('account', 2)]).toEqual([true, true])
    })
  })

  test('what is not one statement, one list, or a row of a table is refused, and nothing is sent', async () => {
    const { locks, Account, Note } = stage()
    const sent: string[] = []
    const logging = (text: string): void => void sent.push(text)
    const said = await locks.transaction(async (tx) => [
      await caught(locks.rows(tx, Account, { logging, include: [{ model: Note, separate: true }] })),
      await caught(locks.rows(tx, Account, { logging, include: [Note], limit: 1 })),
      await caught(locks.rows(tx, Account, { logging, plain: true } as object)),
      await caught(locks.rows(tx, Account, { logging, group: ['id'] })),
      await caught(locks.rows(tx, Account, { logging, where: Sequelize.literal('1 = 1 FOR UPDATE') })),
      await caught(locks.rows(tx, Account, { logging, skipLocked: true })),
    ])
    for (const error of said) expect(error).toMatchObject({ name: 'LockUsageError' })
    expect(sent).toEqual([])
  })

  test('a query that names another transaction, or of which a hook does so, is refused', async () => {
    const { locks, sequelize, Account } = stage()
    await sequelize.transaction(async (other) => {
      await locks.transaction(async (tx) => {
        const named = caught(locks.rows(tx, Account, { transaction: other }))
        expect(await named).toMatchObject({ name: 'LockUsageError', field: 'query' })
        Account.addHook('beforeFind', (options) => void Object.assign(options, { transaction: other }))
        const led = caught(locks.rows(tx, Account, {}))
        expect(await led).toMatchObject({ name: 'LockUsageError', field: 'query' })
      })
    })
  })

  test('a wait is as long as it is told, also where Sequelize would try again', async () => {
    const { locks, Account } = stage()
    const other = openSequelize(context.name, context.engine.server.url, 1, { match: [/./], max: 3 })
    const own = createLocks(other)
    const models = modelsOf(other)
    await locks.transaction(async (tx) => {
      await locks.rows(tx, Account, { where: { id: 1 } })
      const waiting = own.transaction(
        (inner) => own.rows(inner, models.Account, { where: { id: 1 } }, { wait: { timeoutMs: 1 } }),
        { attempts: 1 },
      )
      await expect(waiting).rejects.toThrow(LockTimeoutError)
    })
    await other.close()
  })

  test("Sequelize's own lock is one until the end", async () => {
    const { locks, Account } = stage()
    await locks.transaction(async (tx) => {
      await Account.findByPk(1, { transaction: tx, lock: tx.LOCK.KEY_SHARE })
      // on MySQL it becomes FOR UPDATE, which is more
      expect(await isFree('account', 1)).toBe(false)
      expect(await isFree('account', 2)).toBe(true)
    })
  })

  test('skipLocked, where Sequelize leaves it out, is refused', async () => {
    const { locks, sequelize, Account } = stage()
    const sent: string[] = []
    const find = (tx: Transaction, lock?: true) =>
      Account.findAll({
        transaction: tx,
        skipLocked: true,
        logging: (text) => sent.push(text),
        ...(lock && { lock }),
      })
    const work = async (tx: Transaction): Promise<readonly boolean[]> => {
      const said = [await caught(find(tx)), await caught(find(tx, true))]
      return said.map((thrown) => unwrap(thrown).some(({ error }) => error.name === 'LockUsageError'))
    }
    expect(await locks.transaction(work)).toEqual([true, !isPostgres])
    expect(sent.filter((text) => !text.includes('SKIP LOCKED'))).toEqual([])
    // Sequelize alone sends it without
    expect(await sequelize.transaction(work)).toEqual([false, false])
    expect(sent.some((text) => !text.includes('SKIP LOCKED'))).toBe(true)
  })

  test('a lock on a query with another inside of FROM is one, or is refused', async () => {
    const { locks, sequelize, Account, Note } = stage()
    // PostgreSQL wants to know which of them where rows of an association may be missing
    const include = [{ model: Note, required: true }]
    const find = { where: { id: 1 }, include, limit: 1, lock: true }
    const work = async (tx: Transaction): Promise<boolean | 'refused'> => {
      const said = await caught(Account.findAll({ ...find, transaction: tx }))
      if (said !== 'no error') return 'refused'
      return isFree('account', 1)
    }
    expect(await locks.transaction(work)).toBe(isPostgres ? false : 'refused')
    // Sequelize alone locks nothing of it on MySQL
    if (context.name === 'mysql') expect(await sequelize.transaction(work)).toBe(true)
  })
}
