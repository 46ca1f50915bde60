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

  test.each([
    "SELECT * FROM t WHERE name = 'for update'",
    'SELECT * FROM t WHERE id IN (SELECT id FROM u FOR UPDATE SKIP LOCKED)',
    'SELECT "for update", `for share` FROM t -- lock in share mode',
    'SELECT /* for update */ substring(name FOR 3) FROM t',
  ])('that only looks as if it had a lock of its own is none: %s', (text) => {
    expect(textOf('postgres', text)).toMatchObject({
      sql: expect.stringMatching(/\sFOR UPDATE NOWAIT$/) as unknown,
    })
  })

  test.each([
    '/* of a library */ SELECT * FROM t',
    "/*traceparent='00-a%3B'*/select * from t",
    '-- mine\nSELECT * FROM t',
  ])('may have a comment in front: %s', (text) => {
    expect(textOf('postgres', text)).toMatchObject({
      sql: expect.stringMatching(/\sFOR UPDATE NOWAIT$/) as unknown,
    })
    expect(textOf('mysql', ({ clause }) => `${text} ${clause}`)).toBeDefined()
  })

  test.each([
    ['/* SELECT */ UPDATE t SET a = 1', 'only a SELECT'],
    ['selection', 'only a SELECT'],
    ['', 'only a SELECT'],
    ['/*! DELETE */ SELECT * FROM t', 'cannot be read for certain'],
    ['--a\nSELECT * FROM t', 'cannot be read for certain'],
    ['WITH x AS (SELECT 1) SELECT * FROM x', 'a WITH in front of the SELECT'],
    ['(SELECT * FROM t)', 'is in parentheses'],
    ['(SELECT * FROM t) UNION (SELECT * FROM u)', 'set operation'],
    ['/* a */ SELECT * FROM t UNION SELECT * FROM u', 'set operation'],
    ['/* a */ SELECT DISTINCT a FROM t', 'not a row of a table'],
  ])('%j is refused with its reason: %s', (text, reason) => {
    expect(() => textOf('mysql', text)).toThrow(reason)
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
    ['locks by itself', 'postgres', 'SELECT * FROM t FOR UPDATE'],
    ['skips by itself', 'mysql', 'select * from t where id = 1 for update skip locked'],
    ['locks a table by itself', 'postgres', 'SELECT * FROM t FOR /* x */ no  key UPDATE OF t NOWAIT'],
    ['shares by itself', 'mariadb', 'SELECT * FROM t LOCK IN SHARE MODE'],
    ['shares keys by itself', 'postgres', 'SELECT * FROM t FOR KEY SHARE LIMIT 1'],
    ['locks by itself where nothing can', 'sqlite', 'SELECT * FROM t FOR SHARE'],
    ['is a function that adds a lock', 'postgres', ({ clause }) => `SELECT * FROM t ${clause} FOR SHARE`],
    ['is a function that skips', 'postgres', ({ clause }) => `SELECT * FROM t ${clause} SKIP LOCKED`],
  ])('that %s is refused', (_, dialect, query) => {
    expect(() => textOf(dialect, query)).toThrow(
      expect.objectContaining({ name: 'LockUsageError', field: 'query' }),
    )
  })
})
