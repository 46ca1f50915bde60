import fc from 'fast-check'

/** A statement made up by chance. Every table is used once, so that a lock found later tells which SELECT took it. */
export interface RandomStatement {
  readonly kind: 'select' | 'insert' | 'update'
  readonly query: RandomSelect
}

export interface RandomSelect {
  readonly source: 'table' | RandomSelect
  readonly join:
    | { readonly type: 'innerJoin' | 'leftJoin' | 'rightJoin'; readonly source: 'table' | RandomSelect }
    | undefined
  readonly condition: { readonly kind: 'exists' | 'in' | '='; readonly query: RandomSelect } | undefined
  readonly column: RandomSelect | undefined
  readonly withQuery: { readonly query: RandomSelect; readonly isRead: boolean } | undefined
  readonly union: RandomSelect | undefined
  readonly shape: 'plain' | 'limit' | 'distinct' | 'groupBy' | 'aggregate'
  readonly lock: 'forUpdate' | 'forNoKeyUpdate' | 'forShare' | 'forKeyShare' | undefined
  /** The lock names the first table. */
  readonly isOfFirst: boolean
  readonly wait: 'skipLocked' | 'noWait' | undefined
  /** Built by `db`, and so run through the plugin before it becomes a part of another query. */
  readonly isBuiltAlone: boolean
}

const lock = fc.constantFrom('forUpdate', 'forUpdate', 'forNoKeyUpdate', 'forShare', 'forKeyShare')

/** One time in `times`. */
const once = <T>(times: number, one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: one })

const randomSelect: fc.Memo<RandomSelect> = fc.memo((depth) => {
  const inner = depth > 1 ? randomSelect() : undefined
  const maybe = <T>(
    make: (query: fc.Arbitrary<RandomSelect>) => fc.Arbitrary<T>,
  ): fc.Arbitrary<T | undefined> => (inner === undefined ? fc.constant(undefined) : once(6, make(inner)))
  const table = fc.constant('table' as const)
  const source =
    inner === undefined ? table : fc.oneof({ weight: 3, arbitrary: table }, { weight: 1, arbitrary: inner })
  return fc.record({
    source,
    join: once(
      3,
      fc.record({ type: fc.constantFrom('innerJoin', 'innerJoin', 'leftJoin', 'rightJoin'), source }),
    ),
    condition: maybe((query) => fc.record({ kind: fc.constantFrom('exists', 'in', '='), query })),
    column: maybe((query) => query),
    withQuery: maybe((query) => fc.record({ query, isRead: fc.boolean() })),
    union: maybe((query) => query),
    shape: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom('plain', 'limit') },
      { weight: 1, arbitrary: fc.constantFrom('distinct', 'groupBy', 'aggregate') },
    ),
    lock: once(2, lock),
    isOfFirst: fc.boolean(),
    wait: once(20, fc.constantFrom('skipLocked', 'noWait')),
    isBuiltAlone: fc.boolean(),
  })
})

export const randomStatement: fc.Arbitrary<RandomStatement> = fc.record({
  kind: fc.constantFrom('select', 'select', 'select', 'insert', 'update'),
  query: randomSelect(3),
})
