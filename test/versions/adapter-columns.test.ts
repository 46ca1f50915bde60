import { expect, test } from 'vitest'

import { calls } from '../../scripts/adapters/calls.ts'
import { columns, namesAgainst } from '../../scripts/adapters/columns.ts'
import type { AdapterResult } from '../../scripts/adapters/results.ts'
import { laws } from '../../src/conformance/laws.ts'

const all = [...laws, ...calls].map(({ id }) => id)

function run(given: Partial<AdapterResult> = {}): AdapterResult {
  return {
    adapter: 'pg',
    driver: 'pg 8.23.1',
    engine: 'postgres',
    version: '18.4',
    architecture: 'x64',
    node: '20.20.2',
    on: '2026-11-16',
    held: all,
    refused: [],
    notPromised: [],
    broken: [],
    ...given,
  }
}

function wordOf(title: string, result: AdapterResult): string | undefined {
  return columns.find((column) => column.title === title)?.saidBy(result).word
}

test('every call, and every feature but table locks, has a column', () => {
  const none = run({ held: [] })
  const decided = (id: string): boolean =>
    columns.some(({ saidBy }) => saidBy({ ...none, held: [id] }).word === 'yes')
  const undecided = [...laws, ...calls].filter(({ id, ...law }) => law.aboutRefusal !== true && !decided(id))
  expect(new Set(undecided.map(({ features }) => features[0]))).toEqual(new Set(['table']))
})

test('a feature is given where its laws held, and refused where they were', () => {
  const skip = laws.filter(({ features }) => features[0] === 'skip-locked')
  const ids = skip.filter(({ aboutRefusal }) => aboutRefusal !== true).map(({ id }) => id)
  const without = run({ held: all.filter((id) => !ids.includes(id)), refused: ids })
  expect([wordOf('SKIP LOCKED', run()), wordOf('SKIP LOCKED', without)]).toEqual(['yes', 'no'])
})

test('one broken law is enough', () => {
  expect(wordOf('row locks', run({ held: all.filter((id) => id !== 'R1'), broken: ['R1'] }))).toBe('broken')
})

test('a run that is older than a law says so, and one that knows a law that is gone is refused', () => {
  expect(namesAgainst(run())).toEqual([])
  expect(namesAgainst(run({ held: all.filter((id) => id !== 'R1') }))).toEqual(['R1'])
  expect(() => namesAgainst(run({ held: [...all, 'R999'] }))).toThrow('R999')
})
