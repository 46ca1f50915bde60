import pg from 'pg'
import mysql from 'mysql2/promise'
import { expect, test } from 'vitest'

import { sessions as mysqlSessions } from '../../src/adapters/mysql2/sessions.ts'
import { sessions as pgSessions } from '../../src/adapters/pg/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { meet } from '../../src/locks.ts'
import { onDemand, reached } from '../../src/core/on-demand.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { describeEngines } from '../engines/use.ts'
import { caught } from './stage.ts'

interface Pool {
  readonly sessions: Sessions
  readonly close: () => Promise<void>
}

/** A pool that has one connection, which the transaction needs. */
function poolOfOne(engine: string, url: string): Pool {
  if (engine === 'postgres') {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    return { sessions: pgSessions(pool), close: () => pool.end() }
  }
  const pool = mysql.createPool({ uri: url, connectionLimit: 1 })
  return { sessions: mysqlSessions(pool), close: () => pool.end() }
}

describeEngines(
  (context) => {
    const name = context.name as DialectName

    test('the table is made although the pool has no second connection', async () => {
      const pool = poolOfOne(name, context.engine.server.url)
      try {
        const { transaction, once } = meet(pool.sessions, [registry[name]]).shared
        const answers = []
        for (const key of ['a', 'a', 'b'])
          answers.push(await transaction((tx) => once(tx, key, async () => key)))
        expect(answers).toEqual([
          { isFirst: true, value: 'a' },
          { isFirst: false },
          { isFirst: true, value: 'b' },
        ])
      } finally {
        await pool.close()
      }
    })

    test('where it cannot be made, the error says what to do', async () => {
      const pool = poolOfOne(name, context.engine.server.url)
      const own = await reached(registry[name].once)
      const broken = { sql: 'SELECT * FROM no_such_table', params: [] }
      const dialect = {
        ...registry[name],
        once: onDemand(async () => ({ ...own, schema: [broken], mark: () => broken })),
      }
      try {
        const { transaction, once } = meet(pool.sessions, [registry[name]], { dialect }).shared
        const error = await caught(transaction((tx) => once(tx, 'a', async () => {})))
        expect(error).toBeInstanceOf(LockUsageError)
        expect(error).toMatchObject({ field: 'schema' })
        expect(String(error)).toContain(`holdfast schema ${name}`)
      } finally {
        await pool.close()
      }
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)
