import { sql, type SQL } from 'drizzle-orm'

import { wayOf } from '../../src/adapters/drizzle/sessions.ts'
import type { Row, SqlStatement, Statement } from '../../src/core/statement.ts'
import { drizzle, openDrizzle } from './drizzle.ts'
import type { OrmWay } from './way.ts'

export const drizzleWay: OrmWay = {
  name: drizzle.name,
  engines: drizzle.engines,
  connect: async (engine, url, size) => {
    const { db, close } = openDrizzle(engine, url, size)
    const { sessions } = wayOf(db)
    return { sessions, size: engine === 'sqlite' ? 1 : size, run, close }
  },
}

interface RawTransaction {
  readonly execute?: (query: SQL) => Promise<{ readonly rows?: readonly Row[] } & readonly unknown[]>
  readonly all: (query: SQL) => readonly Row[]
  readonly run: (query: SQL) => unknown
}

/** As an application would, which has a text and values: by Drizzle's `sql`. */
async function run(tx: object, statement: Statement): Promise<readonly Row[]> {
  const raw = tx as RawTransaction
  const query = queryOf(statement as SqlStatement)
  if (raw.execute !== undefined) {
    const answer = await raw.execute(query)
    const rows = answer.rows ?? answer[0]
    return Array.isArray(rows) ? (rows as readonly Row[]) : []
  }
  if (/^\s*(?:select|with|pragma)\b|\breturning\b/i.test((statement as SqlStatement).sql))
    return raw.all(query)
  raw.run(query)
  return []
}

/** The places of values, as each driver writes them. */
function queryOf({ sql: text, params }: SqlStatement): SQL {
  const parts = text.split(/(\$\d+|\?)/)
  let next = 0
  return sql.join(
    parts.map((part, at) => {
      if (at % 2 === 0) return sql.raw(part)
      next = part === '?' ? next + 1 : Number(part.slice(1))
      return sql`${params[next - 1]}`
    }),
  )
}
