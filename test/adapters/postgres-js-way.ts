import postgres from 'postgres'

import { sessions } from '../../src/adapters/postgres-js/sessions.ts'
import type { Row, SqlStatement } from '../../src/core/statement.ts'
import type { OrmWay } from '../orms/way.ts'

/** As an application would, which has a text and values. */
async function run(tx: unknown, statement: unknown): Promise<readonly Row[]> {
  const { sql, params } = statement as SqlStatement
  return (tx as postgres.TransactionSql).unsafe<Row[]>(sql, [...params] as never[])
}

export const postgresJsWay: OrmWay = {
  name: 'postgres',
  engines: ['postgres'],
  connect: async (_, url, size) => {
    const sql = postgres(url, { max: size, onnotice: () => {} })
    return { sessions: sessions(sql), size, run, close: () => sql.end({ timeout: 5 }) }
  },
}
