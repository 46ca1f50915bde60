import { describe, expect, test } from 'vitest'

import { unsupported } from '../../src/core/support.ts'
import { dialectProblems, type Inventory } from './dialects.ts'

describe('the check of dialects', () => {
  const good: Inventory = {
    folders: ['one'],
    categories: ['row', 'table'],
    engines: ['one'],
    registry: {
      one: {
        name: 'one',
        cells: { row: () => undefined, table: unsupported('there is none', 'lock rows') },
        errors: { codeOf: () => undefined, codes: { 1: {} } },
      },
    },
  }
  const one = good.registry.one

  test('finds nothing in a whole dialect', () => {
    expect(dialectProblems(good)).toEqual([])
  })

  const broken: readonly (readonly [string, Partial<Inventory>])[] = [
    ['one has no test/engines/one.ts', { engines: [] }],
    ['one is not in the registry', { registry: {} }],
    [
      'two is in the registry, but there is no src/dialects/two',
      { registry: { ...good.registry, two: { name: 'two' } } },
    ],
    ['one calls itself other', { registry: { one: { ...one, name: 'other' } } }],
    ['one has not decided table', { registry: { one: { ...one, cells: { row: () => undefined } } } }],
    [
      'one has not decided table',
      { registry: { one: { ...one, cells: { ...one?.cells, table: unsupported('', '') } } } },
    ],
    [
      'one decides more, which is not a category',
      { registry: { one: { ...one, cells: { ...one?.cells, more: () => undefined } } } },
    ],
    [
      'one has no table of errors',
      { registry: { one: { ...one, errors: { codeOf: () => undefined, codes: {} } } } },
    ],
  ]

  test.each(broken)('finds: %s', (problem, change) => {
    expect(dialectProblems({ ...good, ...change })).toEqual([problem])
  })
})
