import { expect, test } from 'vitest'

import { idOfTable, tableLocks } from '../../src/locks/table/held.ts'

test.each([
  [
    ['bb', ['public', 'a']],
    ['a', 'bb'],
  ],
  [
    [['public', 'bb'], 'a'],
    ['a', 'bb'],
  ],
] as const)(
  '%j is locked in the same order as %j: whether a schema is named changes nothing',
  (one, other) => {
    const order = (tables: typeof one | typeof other): readonly unknown[] =>
      tableLocks(tables).map(({ table }) => [table].flat().at(-1))
    expect(order(one)).toEqual(order(other))
  },
)

test('tables of two schemas are two, and each has one place', () => {
  expect(idOfTable(['x', 'a'])).not.toBe(idOfTable(['y', 'a']))
  expect(
    tableLocks([
      ['y', 'a'],
      ['x', 'a'],
    ]),
  ).toEqual(
    tableLocks([
      ['x', 'a'],
      ['y', 'a'],
    ]),
  )
})
