import { describe, expect, test } from 'vitest'

import { isSql, type Statement } from '../../src/core/statement.ts'
import { reached } from '../../src/core/on-demand.ts'
import { registry } from '../../src/registry.ts'
import { tsqlParsers } from '../emit/tsql-parsers.ts'

const parsers = await tsqlParsers()
const { lease } = registry.mssql
const once = await reached(registry.mssql.once)
const optimistic = await reached(registry.mssql.optimistic)
const held = { name: 'hl:x', owner: 'o', fence: 7 }
const row = { table: ['dbo', 'account'], key: { id: 7, branch: 'x' }, version: 'version' }

const lists: Readonly<Record<string, readonly Statement[]>> = {
  'the table of leases': lease.schema,
  'a claim to a lease': lease.acquire({ name: 'hl:x', owner: 'o', ttlMs: 5 }),
  'a renewal': lease.renew(held, 5),
  'a release': lease.release(held, 5),
  'a guard': [lease.guard(held)],
  'a fence from elsewhere': lease.admit?.('hr:x', 7) ?? [],
  'the table of marks': once.schema,
  'a mark': [once.mark('hf:x')],
  'a read': [optimistic.read(row)],
  'a change': optimistic.change(row, { expected: 3, set: { balance: 5, 'odd]name': null } }).statements,
}

describe('the statements of SQL Server, which no server here runs', () => {
  const statements = Object.entries(lists).flatMap(([use, list]) =>
    list.filter(isSql).map((statement) => ({ use, ...statement })),
  )

  test.each(statements)('$use is accepted by two independent parsers', ({ sql }) => {
    const verdicts = parsers.map(({ name, problem }) => ({ name, problem: problem(sql) }))
    const accepting = verdicts.filter(({ problem }) => problem === undefined)
    expect(accepting.length, JSON.stringify(verdicts)).toBeGreaterThanOrEqual(2)
  })

  test.each(statements)('$use is rejected by those parsers when a word of it is missing', ({ sql }) => {
    const broken = sql.replace(/ (?:WHERE|USING|END TRY) .*/s, ' WHERE (')
    const accepting = parsers.filter(({ problem }) => problem(broken) === undefined)
    expect(accepting).toEqual([])
  })

  test.each(statements)('$use names each of its parameters', ({ sql, params }) => {
    const named = new Set(sql.match(/@p\d+/g))
    expect([...named].toSorted()).toEqual(params.map((_, index) => `@p${index + 1}`))
  })
})
