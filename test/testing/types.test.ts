import type pg from 'pg'
import { expectTypeOf, test } from 'vitest'

import type { Locks as PgLocks } from '../../src/entries/pg.ts'
import {
  createTestLocks,
  type TestFault,
  type TestLocks,
  type TestTransaction,
} from '../../src/entries/testing.ts'
import type { SharedLocks } from '../../src/locks.ts'

/** Never called: what is tested is that they compile. */
const calls = {
  'code that needs no SQL': () => {
    const use = <Tx>(locks: SharedLocks<Tx>): unknown => locks
    return use(createTestLocks())
  },
  'code for a driver': (client: () => pg.PoolClient) => {
    const use = (locks: PgLocks<pg.PoolClient, 'postgres'>): unknown => locks
    return use(createTestLocks({ tx: client }))
  },
  'a driver whose tx it does not have': () => {
    const use = (locks: PgLocks<pg.PoolClient, 'postgres'>): unknown => locks
    // @ts-expect-error a token is no client
    return use(createTestLocks())
  },
  'locks on a database where those of tests are wanted': (locks: PgLocks<pg.PoolClient, 'postgres'>) => {
    // @ts-expect-error they are a database
    const own: TestLocks<pg.PoolClient> = locks
    return own
  },
  'a fault that there is not': () => {
    // @ts-expect-error none of them
    createTestLocks().testing.failNext('fire')
  },
  'SQL on a tx': (tx: TestTransaction) => {
    // @ts-expect-error it runs none
    return tx.query('SELECT 1') as unknown
  },
}

test('its types say what it is', () => {
  expectTypeOf(calls).not.toBeAny()
  expectTypeOf<TestLocks['isDatabase']>().toEqualTypeOf<false>()
  expectTypeOf<TestLocks['dialect']>().toEqualTypeOf<'memory (not a database)'>()
  expectTypeOf<Parameters<TestLocks['testing']['failNext']>[0]>().toEqualTypeOf<TestFault>()
  expectTypeOf(createTestLocks().transaction).parameter(0).parameter(0).toEqualTypeOf<TestTransaction>()
  expectTypeOf(createTestLocks({ tx: () => ({ n: 1 }) }).transaction)
    .parameter(0)
    .parameter(0)
    .toEqualTypeOf<{ n: number }>()
})
