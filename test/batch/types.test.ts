import { expectTypeOf, test } from 'vitest'

import { statement, type Row } from '../../src/index.ts'
import type { Locks } from '../../src/entries/pg.ts'

interface Stock {
  readonly n: number
}

/** Never called: only its types count. */
const calls = (locks: Locks<unknown, 'postgres'>) => ({
  plain: () => locks.batch('k', [{ sql: 'SELECT 1' }, { sql: 'SELECT $1::int', params: [1] }]),
  typed: () => locks.batch('k', [statement<Stock>('SELECT n FROM stock'), { sql: 'SELECT 1' }]),
  guarded: () => locks.batch('k', [{ sql: 'DELETE FROM stock', expect: { rows: 1 } }]),
  typedAndGuarded: () =>
    locks.batch('k', [{ ...statement<Stock>('SELECT n FROM stock'), expect: { atLeast: 1 } }]),
  assigned: () =>
    locks.batch('k', [Object.assign(statement<Stock>('SELECT n FROM stock'), { expect: { rows: 1 } })]),
  oneAssigned: () =>
    locks.batch('k', [
      { sql: 'SELECT 1' },
      Object.assign(statement<Stock>('SELECT n FROM stock'), { expect: { rows: 1 } as const }),
    ]),
})

type Given<Call extends keyof ReturnType<typeof calls>> = Awaited<ReturnType<ReturnType<typeof calls>[Call]>>

test('each result has the rows of its own statement', () => {
  expectTypeOf<Given<'plain'>>().toEqualTypeOf<readonly [readonly Row[], readonly Row[]]>()
  expectTypeOf<Given<'typed'>>().toEqualTypeOf<readonly [readonly Stock[], readonly Row[]]>()
})

test('only what expects something may give nothing', () => {
  expectTypeOf<Given<'guarded'>>().toEqualTypeOf<readonly [readonly Row[]] | undefined>()
  expectTypeOf<Given<'typedAndGuarded'>>().toEqualTypeOf<readonly [readonly Stock[]] | undefined>()
  expectTypeOf<Given<'assigned'>>().toEqualTypeOf<readonly [readonly Stock[]] | undefined>()
  expectTypeOf<Given<'oneAssigned'>>().toEqualTypeOf<
    readonly [readonly Row[], readonly Stock[]] | undefined
  >()
})

/** Never called: the compiler refuses each, which the library would do as well. */
export const refused = (locks: Locks<unknown, 'postgres'>): readonly unknown[] => [
  // @ts-expect-error the values of `pg` are called params
  locks.batch('k', [{ sql: 'SELECT $1::int', values: [1] }]),
  // @ts-expect-error one of the two
  locks.batch('k', [{ sql: 'DELETE FROM stock', expect: { rows: 1, atLeast: 1 } }]),
]
