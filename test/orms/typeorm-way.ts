import type { EntityManager } from 'typeorm'

import { sessionsOf, type TypeormKind } from '../../src/adapters/typeorm/sessions.ts'
import type { Row, SqlStatement, Statement } from '../../src/core/statement.ts'
import { openTypeorm, typeorm } from './typeorm.ts'
import type { OrmWay } from './way.ts'

const kinds: Readonly<Record<string, TypeormKind>> = { postgres: 'pg', sqlite: 'better-sqlite3' }

export const typeormWay: OrmWay = {
  name: typeorm.name,
  engines: typeorm.engines,
  connect: async (engine, url, size) => {
    const source = await openTypeorm(engine, url, size)
    const sessions = sessionsOf(source, kinds[engine] ?? 'mysql2')
    return { sessions, size: engine === 'sqlite' ? 1 : size, run, close: () => source.destroy() }
  },
}

/** As an application would, which has a text and values: by `query`. */
async function run(tx: object, statement: Statement): Promise<readonly Row[]> {
  const { sql, params } = statement as SqlStatement
  const answer: unknown = await (tx as EntityManager).query(sql, [...params])
  // of an UPDATE or DELETE on PostgreSQL the rows come with their number
  const rows: unknown = Array.isArray(answer) && Array.isArray(answer[0]) ? answer[0] : answer
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}
