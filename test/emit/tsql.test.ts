import { describe, expect, test } from 'vitest'

import { UnsupportedLockError } from '../../src/core/errors.ts'
import type { Plan } from '../../src/core/plan.ts'
import { isSql, type Statement } from '../../src/core/statement.ts'
import { emit } from '../../src/emit.ts'
import { cases } from './cases.ts'
import { tsqlParsers } from './tsql-parsers.ts'

const parsers = await tsqlParsers()

/** Every table hint of the vendor's page that our plans may use. */
const documentedHints = [
  'UPDLOCK',
  'HOLDLOCK',
  'ROWLOCK',
  'NOWAIT',
  'READPAST',
  'READCOMMITTEDLOCK',
  'REPEATABLEREAD',
  'TABLOCK',
  'TABLOCKX',
]

describe('T-SQL, which no server here runs', () => {
  test.each(mssqlStatements())('is accepted by two independent parsers: %s', (text) => {
    const verdicts = parsers.map(({ name, problem }) => ({ name, problem: problem(text) }))
    const accepting = verdicts.filter(({ problem }) => problem === undefined)
    expect(accepting.length, JSON.stringify(verdicts)).toBeGreaterThanOrEqual(2)
  })

  test('uses only hints that the vendor documents', () => {
    const used = mssqlStatements().flatMap((text) => /WITH \(([^)]*)\)/.exec(text)?.[1]?.split(', ') ?? [])
    expect(used.length).toBeGreaterThan(0)
    expect(used.filter((hint) => !documentedHints.includes(hint))).toEqual([])
  })

  test.each(parsers)('is really read by $name: broken statements are rejected', ({ problem }) => {
    for (const broken of ['SELECT * FROM', 'SELECT * FROM t WHERE (a = 1', 'SELECT * FROM t WHERE a = = 1'])
      expect(problem(broken)).toBeDefined()
  })

  test('with a misspelt hint is caught by the parser that knows the hints', () => {
    const [strict] = parsers
    expect(strict?.problem('SELECT * FROM [account] WITH (UPDLOCK, ROWLOCK)')).toBeUndefined()
    expect(strict?.problem('SELECT * FROM [account] WITH (UPDLOK, ROWLOCK)')).toBeDefined()
  })
})

function mssqlStatements(): readonly string[] {
  const texts = cases.flatMap(({ category, request }) => {
    try {
      return statementsOf(emit('mssql', category, request)).map(textOf)
    } catch (error) {
      if (error instanceof UnsupportedLockError) return []
      throw error
    }
  })
  return [...new Set(texts)]
}

function statementsOf(plan: Plan): readonly Statement[] {
  const { setting, query } = plan
  const settings = setting === undefined ? [] : [setting.read, setting.apply, setting.restore]
  const all = [
    ...settings,
    ...plan.needs,
    ...plan.beforeBegin,
    ...plan.inTransaction,
    query?.read,
    ...plan.afterEnd,
  ]
  return all.filter((statement) => statement !== undefined)
}

function textOf(statement: Statement): string {
  if (!isSql(statement)) throw new Error('not SQL')
  return statement.sql.replace('{saved}', '-1')
}
