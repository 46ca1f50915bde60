import type { Knex } from 'knex'

import { wayOf } from '../../src/adapters/knex/sessions.ts'
import type { Row, SqlStatement, Statement } from '../../src/core/statement.ts'
import { knex, openKnex } from './knex.ts'
import type { OrmWay } from './way.ts'

export const knexWay: OrmWay = {
  name: knex.name,
  engines: knex.engines,
  connect: async (engine, url, size) => {
    const db = openKnex(engine, url, size)
    const { sessions } = wayOf(db)
    return { sessions, size: engine === 'sqlite' ? 1 : size, run, close: () => db.destroy() }
  },
}

type Answer = { readonly rows?: readonly Row[] } & readonly unknown[]

/** As an application would, which has a text and values: by `raw`. */
async function run(tx: object, statement: Statement): Promise<readonly Row[]> {
  const { sql, params } = statement as SqlStatement
  const values: unknown[] = []
  // Knex has one mark for the places of values, and no numbers
  const text = sql.replace(/\$(\d+)/g, (_, place: string) => {
    values.push(params[Number(place) - 1])
    return '?'
  })
  const bindings = text === sql ? params : values
  const answer = (await (tx as Knex).raw(text, bindings as Knex.RawBinding[])) as Answer
  const rows = answer.rows ?? (Array.isArray(answer[0]) ? answer[0] : answer)
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}
