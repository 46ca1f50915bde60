import {
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  type Model,
  type Sequelize,
  type Transaction,
} from 'sequelize'
import { afterEach, beforeEach } from 'vitest'

import { createLocks, type SequelizeDialectName, type SequelizeLocks } from '../../src/entries/sequelize.ts'
import { until, type EngineContext } from '../engines/use.ts'
import { accountOf, openSequelize } from './sequelize.ts'
import { accounts } from './stage.ts'

export interface NoteModel extends Model<InferAttributes<NoteModel>, InferCreationAttributes<NoteModel>> {
  id: number
  accountId: number
  text: string
}

const notes: readonly string[] = [
  'DROP TABLE IF EXISTS note',
  'CREATE TABLE note (id integer PRIMARY KEY, account_id integer NOT NULL, text varchar(100) NOT NULL UNIQUE)',
  "INSERT INTO note VALUES (1, 1, 'first'), (2, 1, 'second')",
]

/** An application with two models, one of which belongs to the other. */
export function modelsOf(sequelize: Sequelize) {
  const Account = accountOf(sequelize)
  const Note = sequelize.define<NoteModel>(
    'note',
    {
      id: { type: DataTypes.INTEGER, primaryKey: true },
      accountId: { type: DataTypes.INTEGER, field: 'account_id' },
      text: { type: DataTypes.STRING, unique: true },
    },
    { freezeTableName: true, timestamps: false },
  )
  Account.hasMany(Note, { foreignKey: 'accountId' })
  Note.belongsTo(Account, { foreignKey: 'accountId' })
  return { Account, Note }
}

/** What a spec of Sequelize's has, inside tests. */
export interface SequelizeStage extends ReturnType<typeof modelsOf> {
  readonly sequelize: Sequelize
  readonly locks: SequelizeLocks<Transaction, SequelizeDialectName>
}

export function sequelizeOn(context: EngineContext): () => SequelizeStage {
  let stage: SequelizeStage | undefined
  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of [...accounts, ...notes]) await session.run({ sql, params: [] })
    await session.close()
    const sequelize = openSequelize(context.name, context.engine.server.url, 4)
    stage = { sequelize, locks: createLocks(sequelize), ...modelsOf(sequelize) }
  })
  afterEach(async () => {
    await stage?.sequelize.close()
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })
  return () => {
    if (stage === undefined) throw new Error('the application is there only inside a test')
    return stage
  }
}
