import { describe, expectTypeOf, test } from 'vitest'

import type {
  Category,
  DialectName,
  Emitter,
  Plan,
  Registry,
  RequestOf,
  Unsupported,
} from '../../src/index.ts'
import { emit, explain, supportMatrix } from '../../src/index.ts'

describe('types', () => {
  test('know the dialects and what each of them can never give', () => {
    expectTypeOf<DialectName>().toEqualTypeOf<
      'postgres' | 'mysql' | 'mariadb' | 'sqlite' | 'duckdb' | 'mssql' | 'mongodb'
    >()
    expectTypeOf<Registry['sqlite']['cells']['skip-locked']>().toEqualTypeOf<Unsupported>()
    expectTypeOf<Registry['postgres']['cells']['skip-locked']>().toEqualTypeOf<Emitter<'skip-locked'>>()
    expectTypeOf<Registry['duckdb']['cells']['table']>().toEqualTypeOf<Unsupported>()
    expectTypeOf<Registry['mysql']['cells']['table']>().toEqualTypeOf<Emitter<'table'>>()
  })

  test('give each category its own request', () => {
    expectTypeOf<RequestOf<'advisory'>>().toHaveProperty('key')
    expectTypeOf<RequestOf<'table'>>().toHaveProperty('table')
    expectTypeOf<RequestOf<'nowait'>>().not.toHaveProperty('key')
    expectTypeOf(emit<Category>).returns.toEqualTypeOf<Plan>()
    expectTypeOf(explain<'table'>).returns.toEqualTypeOf<string>()
    expectTypeOf(supportMatrix).returns.items.toHaveProperty('support')
  })

  test('refuse what the run time refuses', () => {
    const neverCalled = (): void => {
      // @ts-expect-error an unknown dialect
      emit('oracle', 'table', { table: 't' })
      // @ts-expect-error an unknown category
      emit('postgres', 'row', {})
      // @ts-expect-error an advisory lock needs a key
      emit('postgres', 'advisory', {})
      // @ts-expect-error a name cannot be skipped
      emit('postgres', 'advisory', { key: 'k', wait: 'skip' })
      // @ts-expect-error a misspelt field
      emit('postgres', 'row-exclusive', { timeout: 5 })
      // @ts-expect-error a key part is text or a whole number
      emit('postgres', 'advisory', { key: ['user', true] })
    }
    expectTypeOf(neverCalled).toBeFunction()
  })
})
