import { expectTypeOf, test } from 'vitest'

import type { Receipt } from '../../src/core/receipt.ts'
import type { Locks } from '../../src/locks.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'

test('a table is locked by its name, where the database has such a lock', () => {
  const neverCalled = async (
    postgres: Locks<object, 'postgres'>,
    either: Locks<object, 'mysql' | 'mariadb'>,
    duckdb: Locks<object, 'duckdb'>,
    mongodb: Locks<object, 'mongodb'>,
  ): Promise<void> => {
    const tx = {}
    expectTypeOf(await postgres.table(tx, 'stock', { mode: 'shared' })).toEqualTypeOf<Receipt>()
    await either.table(tx, ['shop', 'stock'], { wait: { timeoutMs: 5 }, blockReaders: true })
    // @ts-expect-error DuckDB has no such lock
    await duckdb.table(tx, 'stock')
    // @ts-expect-error MongoDB has none either
    await mongodb.table(tx, 'stock')
    // @ts-expect-error only rows can be skipped
    await postgres.table(tx, 'stock', { wait: 'skip' })
    // @ts-expect-error a mode that there is not
    await postgres.table(tx, 'stock', { mode: 'share' })
  }
  void neverCalled
})

test('a transaction names its tables in one of three ways', () => {
  type Tables = NonNullable<TransactionOptions['tables']>
  expectTypeOf<'stock'>().toExtend<Tables>()
  expectTypeOf<{ readonly table: string; readonly mode: 'shared' }>().toExtend<Tables>()
  expectTypeOf<readonly [['shop', 'stock'], 'account']>().toExtend<Tables>()
  expectTypeOf<{ readonly table: string; readonly wait: 'skip' }>().not.toExtend<Tables>()
  expectTypeOf<number>().not.toExtend<Tables>()
})
