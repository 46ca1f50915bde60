import { describe, expect, test } from 'vitest'

import { emit } from '../../src/emit.ts'
import { lockingRead, type RowQuery } from '../../src/locks/rows/query.ts'
import type { DialectName } from '../../src/registry.ts'

function textOf(dialect: DialectName, query: RowQuery): unknown {
  return lockingRead(query, emit(dialect, 'row-exclusive', { wait: 'nowait' })).statement
}

describe('a query by hand', () => {
  test('has the lock at its end, where a comment cannot swallow it', () => {
    expect(textOf('postgres', 'SELECT * FROM t WHERE id = 1;\n')).toEqual({
      sql: 'SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT',
      params: [],
    })
    expect(textOf('mysql', { sql: 'select * from t where id = ? -- mine', params: [7] })).toEqual({
      sql: 'select * from t where id = ? -- mine\nFOR UPDATE NOWAIT',
      params: [7],
    })
  })

  test('stays as it is where the transaction is the lock', () => {
    expect(textOf('sqlite', 'SELECT * FROM t')).toEqual({ sql: 'SELECT * FROM t', params: [] })
  })

  test('is told where the engine wants the lock', () => {
    const query: RowQuery = ({ hint, clause }) => `SELECT * FROM t ${hint} WHERE id = 1 ${clause}`
    expect(textOf('mssql', query)).toMatchObject({
      sql: 'SELECT * FROM t WITH (UPDLOCK, ROWLOCK, NOWAIT) WHERE id = 1',
    })
    expect(textOf('mariadb', query)).toMatchObject({ sql: 'SELECT * FROM t  WHERE id = 1 FOR UPDATE NOWAIT' })
  })

  test.each<[string, DialectName, RowQuery]>([
    ['is not a SELECT', 'postgres', 'UPDATE t SET a = 1'],
    ['is a WITH query', 'postgres', 'WITH x AS (SELECT 1) SELECT * FROM x'],
    ['is two statements', 'postgres', 'SELECT * FROM t; SELECT 1'],
    ['ends in an open comment', 'mysql', 'SELECT * FROM t /* mine'],
    ['is a set operation', 'mysql', 'SELECT * FROM t UNION SELECT * FROM u'],
    ['reads another query', 'mysql', 'SELECT * FROM (SELECT * FROM t) AS x'],
    ['is a function that leaves the lock out', 'postgres', () => 'SELECT * FROM t'],
    ['is plain text where the lock belongs behind the table', 'mssql', 'SELECT * FROM t'],
    ['is nothing', 'postgres', {} as never],
  ])('that %s is refused', (_, dialect, query) => {
    expect(() => textOf(dialect, query)).toThrow(
      expect.objectContaining({ name: 'LockUsageError', field: 'query' }),
    )
  })
})
