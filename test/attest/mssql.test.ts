import { describe, expect, test } from 'vitest'

import type { Row, Statement } from '../../src/core/statement.ts'
import { isSql } from '../../src/core/statement.ts'
import { registry } from '../../src/registry.ts'
import { tsqlParsers } from '../emit/tsql-parsers.ts'

const { examination } = await registry.mssql.tools()
const version = registry.mssql.readVersion('2022')

function findings(database: Row, connection: Row): readonly string[] {
  return examination.read({ database: [database], connection: [connection] }, version).map(({ id }) => id)
}

const database = {
  read_committed_snapshot: 0,
  snapshot_isolation: 'ON',
  delayed_durability: 'DISABLED',
  updateability: 'READ_WRITE',
  optimized_locking: null,
  engine_edition: 3,
}
const connection = { lock_timeout: 5000, xact_abort: 1, implicit_transactions: 0 }

describe('SQL Server, which does not run here', () => {
  test('what is set in each way is found, and only that', () => {
    expect(findings(database, connection)).toEqual(['lock-timeout-set'])
    const changes = [
      [{ read_committed_snapshot: 1 }, 'read-committed-snapshot'],
      [{ snapshot_isolation: 'OFF' }, 'snapshot-isolation-off'],
      [{ delayed_durability: 'FORCED' }, 'commit-not-durable'],
      [{ updateability: 'READ_ONLY' }, 'read-only'],
      [{ optimized_locking: 1 }, 'optimized-locking'],
      [{ engine_edition: 5 }, 'azure'],
    ] as const
    for (const [change, id] of changes)
      expect(findings({ ...database, ...change }, connection)).toEqual([id, 'lock-timeout-set'])
    expect(findings(database, { ...connection, lock_timeout: -1 })).toEqual(['lock-timeout-unlimited'])
    expect(findings(database, { ...connection, xact_abort: 0 })).toContain('xact-abort-off')
    expect(findings(database, { ...connection, implicit_transactions: 1 })).toContain('implicit-transactions')
  })

  test('at least two parsers accept each statement', async () => {
    const parsers = await tsqlParsers()
    const statements: readonly Statement[] = [
      ...Object.values(examination.questions(version)).map(({ ask }) => ask),
      examination.indexes('jobs'),
      examination.leaseRow.remove('x'),
    ]
    for (const statement of statements) {
      const text = isSql(statement) ? statement.sql : ''
      const accepted = parsers.filter(({ problem }) => problem(text) === undefined)
      expect(
        accepted.length,
        `${text}\n${parsers.map(({ name, problem }) => `${name}: ${problem(text)}`).join('\n')}`,
      ).toBeGreaterThanOrEqual(2)
    }
  })
})
