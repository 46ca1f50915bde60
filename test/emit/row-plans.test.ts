import { describe, expect, test } from 'vitest'

import { planOn } from '../../src/dialects/plan-on.ts'
import { rememberRowPlans, type PlanRows } from '../../src/locks/rows/plans.ts'
import type { RowOptions } from '../../src/locks/rows/rows.ts'
import { registry } from '../../src/registry.ts'

const planFor: PlanRows = ({ dialect, version, isolation }, lock, target) =>
  planOn({ dialect, version }, lock.mode === 'shared' ? 'row-shared' : 'row-exclusive', {
    ...lock,
    ...(isolation && { isolation }),
    ...(target && { target }),
  })

const options: readonly RowOptions[] = [
  {},
  { mode: 'shared' },
  { wait: 'nowait' },
  { wait: 'skip' },
  { wait: { timeoutMs: 2000 } },
  { wait: { timeoutMs: 3000 } },
  { of: ['stock'] },
  { of: ['stock', 'shelf'] },
  { exact: true },
  { protectAbsence: true },
  { strength: 'no-key-update' },
]

const keys = [
  { id: 1 },
  { id: 2 },
  { id: 'two' },
  { id: [1, 2] },
  { id: [1, 2, 3] },
  { at: 1 },
  { id: 1, shelf: 2 },
  { id: 3, shelf: 3 },
  { shelf: 4, id: 5 },
  { id: new Date(0) },
  { id: true },
] as const

const tables = ['stock', 'other', ['stock'], ['shop', 'stock']] as const

function outcome(plan: () => unknown): unknown {
  try {
    return plan()
  } catch (error) {
    return String(error)
  }
}

describe('a plan that is remembered is the one that would be made anew', () => {
  for (const dialect of Object.values(registry))
    test(dialect.name, () => {
      const remembered = rememberRowPlans(planFor)
      const version = dialect.readVersion(dialect.versions.assumed)
      const place = { dialect, version, isolation: undefined }
      const targets = tables.flatMap((table) => keys.map((key) => ({ table, key })))
      for (const round of [1, 2])
        for (const lock of options)
          for (const target of [undefined, ...targets])
            expect(
              outcome(() => remembered(place, lock, target)),
              `${round}`,
            ).toEqual(outcome(() => planFor(place, lock, target)))
    })
})

const place = { dialect: registry.postgres, version: [18, 0, 0], isolation: undefined } as const
const target = { table: 'stock', key: { id: 1 } }

function counted(): { readonly plan: ReturnType<typeof rememberRowPlans>; readonly made: () => number } {
  let count = 0
  const plan = rememberRowPlans((...asked) => {
    count += 1
    return planFor(...asked)
  })
  return { plan, made: () => count }
}

test('rows of a table are planned once, whatever the values of their key', () => {
  const { plan, made } = counted()
  for (const id of [1, 2, 3])
    expect(plan(place, {}, { table: 'stock', key: { id } }).query?.read).toEqual({
      sql: 'SELECT * FROM "stock" WHERE "id" = $1 FOR UPDATE',
      params: [id],
    })
  expect(made()).toBe(1)
})

test('options that their owner changes are other options', () => {
  const { plan } = counted()
  const own: { wait: { timeoutMs: number }; of: string[] } = { wait: { timeoutMs: 10 }, of: ['a'] }
  plan(place, own, target)
  own.wait.timeoutMs = 20
  own.of.push('b')
  expect(plan(place, own, target)).toEqual(planFor(place, own, target))
})

test('what is misspelt, or equals no row, is refused as at first', () => {
  const { plan } = counted()
  plan(place, {}, target)
  plan(place, { wait: 'nowait' }, target)
  expect(() => plan(place, { nowait: true } as never, target)).toThrow('nowait')
  expect(() => plan(place, {}, { ...target, keys: 1 } as never)).toThrow('keys')
  for (const id of [undefined, null, NaN, 2 ** 53])
    expect(() => plan(place, {}, { table: 'stock', key: { id: id as never } })).toThrow('target.key.id')
})

test('a plan that holds a value elsewhere than in its read is made anew', () => {
  const holding = rememberRowPlans((...asked) => ({
    ...planFor(...asked),
    inTransaction: [{ sql: `SELECT lock_of(${String(asked[2]?.key.id)})`, params: [] }],
  }))
  holding(place, {}, target)
  const { inTransaction } = holding(place, {}, { table: 'stock', key: { id: 2 } })
  expect(inTransaction).toEqual([{ sql: 'SELECT lock_of(2)', params: [] }])
})
