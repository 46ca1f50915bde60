import {
  DataTypes,
  Sequelize,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type Model,
  type RetryOptions,
  type Transaction,
} from 'sequelize'

import { createLocks } from '../../src/entries/sequelize.ts'
import type { RowOptions } from '../../src/locks/rows/rows.ts'
import type { Orm, OrmStage, StageOptions } from './stage.ts'

export interface AccountModel extends Model<
  InferAttributes<AccountModel>,
  InferCreationAttributes<AccountModel>
> {
  id: CreationOptional<number>
  balance: number
}

/** Sequelize's words for the databases. */
const dialects: Readonly<Record<string, 'postgres' | 'mysql'>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
}

export function openSequelize(engine: string, url: string, max: number, retry?: RetryOptions): Sequelize {
  const dialect = dialects[engine]
  if (dialect === undefined) throw new Error(`Sequelize does not reach ${engine} here`)
  return new Sequelize(url, { dialect, logging: false, pool: { max }, ...(retry && { retry }) })
}

/** The column is not called what the attribute is: what Sequelize gives is its own making. */
export function accountOf(sequelize: Sequelize) {
  return sequelize.define<AccountModel>(
    'account',
    {
      id: { type: DataTypes.INTEGER, primaryKey: true },
      balance: { type: DataTypes.INTEGER, field: 'balance_now' },
    },
    { freezeTableName: true, timestamps: false },
  )
}

/** What the specs call a query: some rows of a model, and the transaction that they are to be read in. */
interface Found {
  readonly model: ReturnType<typeof accountOf>
  readonly find: object
}

function stageOn(sequelize: Sequelize, { size, pipeline }: StageOptions): OrmStage<Transaction> {
  const account = accountOf(sequelize)
  const locks = createLocks(sequelize, { pipeline })
  const query = (id: number, transaction?: Transaction): Found => ({
    model: account,
    find: { where: { id }, ...(transaction && { transaction }) },
  })
  const plain = (rows: readonly AccountModel[]) => rows.map((row) => row.get({ plain: true }))
  return {
    locks: {
      ...locks,
      rows: async (tx: Transaction, { model, find }: Found, options?: RowOptions) => {
        const locked = await locks.rows(tx, model, find, options)
        return Object.assign(plain(locked), { receipt: locked.receipt })
      },
    },
    query,
    select: async (id, transaction) =>
      plain(await account.findAll({ where: { id }, ...(transaction && { transaction }) })),
    selectSkipping: (id, transaction): Found => ({
      model: account,
      find: { where: { id }, transaction, lock: true, skipLocked: true },
    }),
    update: (transaction, { id, balance }) => account.update({ balance }, { where: { id }, transaction }),
    insert: (transaction, row) => account.create(row, { transaction }),
    send: (transaction, text) => sequelize.query(text, { transaction }),
    nest: (transaction, work) => sequelize.transaction({ transaction }, work),
    ownTransaction: (work) => sequelize.transaction(work),
    size,
    close: () => sequelize.close(),
  }
}

export const sequelizeOrm: Orm = {
  name: 'sequelize',
  engines: Object.keys(dialects),
  nesting: () => 'asynchronous',
  open: async (engine, url, { size = 4, pipeline } = {}) =>
    stageOn(openSequelize(engine, url, size), { size, pipeline }) as OrmStage,
}
