import type { SqlEntityManager } from '@mikro-orm/postgresql'

import { sessionsOf } from '../../src/adapters/mikro-orm/sessions.ts'
import type { Row, SqlStatement, Statement } from '../../src/core/statement.ts'
import { mikroOrm, openMikroOrm } from './mikro-orm.ts'
import type { OrmWay } from './way.ts'

export const mikroOrmWay: OrmWay = {
  name: mikroOrm.name,
  engines: mikroOrm.engines,
  connect: async (_, url, size) => {
    const orm = await openMikroOrm(url, size)
    return { sessions: sessionsOf(orm), size, run, close: () => orm.close() }
  },
}

/** As an application would, which has a text and values: by `execute`, with its marks for values. */
async function run(tx: object, statement: Statement): Promise<readonly Row[]> {
  const { sql, params } = statement as SqlStatement
  const values: unknown[] = []
  const text = sql.replace(/\$(\d+)/g, (_, place: string) => {
    values.push(params[Number(place) - 1])
    return '?'
  })
  const rows: unknown = await (tx as SqlEntityManager).execute(text, values as never[])
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}
