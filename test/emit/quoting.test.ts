import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { SqlStatement } from '../../src/core/statement.ts'
import { syntax as duckdb } from '../../src/dialects/duckdb/syntax.ts'
import { syntax as mssql } from '../../src/dialects/mssql/syntax.ts'
import { syntax as mysql } from '../../src/dialects/mysql/syntax.ts'
import { syntax as postgres } from '../../src/dialects/postgres/syntax.ts'
import { quoteTable, type SqlSyntax } from '../../src/dialects/sql.ts'
import { syntax as sqlite } from '../../src/dialects/sqlite/syntax.ts'
import { emit } from '../../src/emit.ts'
import type { DialectName } from '../../src/registry.ts'
import { describeEngines } from '../engines/use.ts'
import { tsqlParsers } from './tsql-parsers.ts'

const syntaxes: Readonly<Record<string, SqlSyntax>> = { postgres, mysql, mariadb: mysql, sqlite, duckdb }

/** Pieces that end a name, start a comment, look like a parameter, or hide a quote. */
const nasty = fc.constantFrom(
  '"',
  '`',
  '[',
  ']',
  "'",
  ';',
  '--',
  '/*',
  '*/',
  '\\',
  '$1',
  '?',
  ':a',
  '@p1',
  '%s',
  '#',
  ' or 1=1 ',
  'é',
  '名',
  '\n',
  '\t',
)
const plain = fc.constantFrom('a', 'B', 'select', 'account', '_', '7')

/** A name of at most 60 bytes that ends in a letter: MySQL refuses a space there, PostgreSQL cuts after 63. */
const name = fc
  .array(fc.oneof(nasty, plain), { minLength: 1, maxLength: 8 })
  .map((pieces) => `${pieces.join('')}x`)
  .filter((text) => Buffer.byteLength(text) <= 60)

describeEngines(
  (context) => {
    test('any table and column name reaches the engine as that name and nothing else', async () => {
      const syntax = syntaxes[context.name] ?? expect.unreachable('a SQL engine without a syntax')
      const session = await context.engine.open()
      const run = (sql: string): Promise<unknown> => session.run({ sql, params: [] })
      await fc.assert(
        fc.asyncProperty(name, name, async (table, column) => {
          const quoted = quoteTable(syntax, table)
          await run(`CREATE TABLE ${quoted} (${syntax.quote(column)} INTEGER PRIMARY KEY)`)
          await run(`INSERT INTO ${quoted} VALUES (7)`)
          const plan = emit(context.name as DialectName, 'row-exclusive', {
            target: { table, key: { [column]: 7 } },
          })
          const rows = plan.query?.read === undefined ? [] : await session.run(plan.query.read)
          expect(rows).toEqual([{ [column]: 7 }])
          await run(`DROP TABLE ${quoted}`)
        }),
        { numRuns: 60 },
      )
      await session.close()
    })
  },
  { only: Object.keys(syntaxes) },
)

describe('SQL Server, which no server here runs', () => {
  test('reads any name as one bracketed name', async () => {
    const [, antlr] = await tsqlParsers()
    fc.assert(
      fc.property(name, (table) => {
        const statement = emit('mssql', 'row-exclusive', { target: { table, key: { id: 7 } } }).query
          ?.read as SqlStatement
        expect(statement.sql).toBe(
          `SELECT * FROM ${quoteTable(mssql, table)} WITH (UPDLOCK, ROWLOCK) WHERE [id] = @p1`,
        )
        expect(antlr?.problem(statement.sql), statement.sql).toBeUndefined()
      }),
      { numRuns: 60 },
    )
  })
})

test('a value never becomes part of a statement', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (value) => {
      const named = emit('postgres', 'row-exclusive', { target: { table: 't', key: { id: value } } }).query
        ?.read
      expect(named).toEqual({ sql: 'SELECT * FROM "t" WHERE "id" = $1 FOR UPDATE', params: [value] })
    }),
  )
})
