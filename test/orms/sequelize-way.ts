import type { Transaction } from 'sequelize'

import { sessionsOf } from '../../src/adapters/sequelize/sessions.ts'
import type { Row, SqlStatement, Statement } from '../../src/core/statement.ts'
import { openSequelize, sequelizeOrm } from './sequelize.ts'
import type { OrmWay } from './way.ts'

export const sequelizeWay: OrmWay = {
  name: sequelizeOrm.name,
  engines: sequelizeOrm.engines,
  connect: async (engine, url, size) => {
    const sequelize = openSequelize(engine, url, size)
    // as an application does at its start: the first connection is followed by questions about the server
    await sequelize.authenticate()
    const sessions = sessionsOf(sequelize, engine === 'postgres' ? 'pg' : 'mysql2')
    return { sessions, size, run, close: () => sequelize.close() }
  },
}

/** As an application would, which has a text and values: by `query` of the instance that the transaction is of. */
async function run(tx: object, statement: Statement): Promise<readonly Row[]> {
  const { sql, params } = statement as SqlStatement
  const transaction = tx as Transaction & { readonly sequelize: ReturnType<typeof openSequelize> }
  // Sequelize has numbers for the places of values, on every database
  let place = 0
  const text = sql.replaceAll('?', () => `$${(place += 1)}`)
  const values = params.length === 0 ? {} : { bind: [...params] }
  // it gives nothing for a CALL without rows
  const answer: readonly unknown[] | undefined = await transaction.sequelize.query(text, {
    transaction,
    ...values,
  })
  const rows = answer?.[0]
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}
