import type { ClientSession, Db } from 'mongodb'
import type { PoolConnection } from 'mysql2/promise'
import type { PoolClient } from 'pg'
import { expectTypeOf, test } from 'vitest'

import type { LockKey } from '../../src/core/key.ts'
import type { Receipt } from '../../src/core/receipt.ts'
import type { MongodbLocks, MongodbTransaction } from '../../src/entries/mongodb.ts'
import type { Locks } from '../../src/entries/pg.ts'
import type { Tried } from '../../src/locks/named/try-lock.ts'
import type { LockInTransaction, LocksInTransaction } from '../../src/locks/named/held-lock.ts'
import type { Lease } from '../../src/locks/lease/lease.ts'
import type { Held } from '../../src/locks/session-lock/hold.ts'

type Pg = Locks<PoolClient, 'postgres'>
type Mysql = Locks<PoolConnection, 'mysql' | 'mariadb'>
type MongodbTx = MongodbTransaction<ClientSession, Db>

/** Never called: what is tested is that they compile. */
const calls = {
  withLock: (locks: Pg) =>
    locks.withLock('key', async (tx) => (await tx.query<{ id: number }>('select')).rows),
  tryLock: (locks: Mysql) => locks.tryLock(['key', 1n], async () => 7),
  withLocks: (locks: Pg) => locks.withLocks(['a', ['b', 2]], async () => ({ done: true })),
  lock: (locks: Pg) => locks.transaction((tx) => locks.lock(tx, 'key', { wait: 'nowait', savepoint: true })),
  fenced: (locks: MongodbLocks<MongodbTx>, lease: Lease) =>
    locks.fenced(lease, async ({ session, db }) => db.collection('a').countDocuments({}, { session })),
}

test('the result of the work is the result of the call', () => {
  expectTypeOf(calls.withLock).returns.resolves.toEqualTypeOf<{ id: number }[]>()
  expectTypeOf(calls.tryLock).returns.resolves.toEqualTypeOf<Tried<number>>()
  expectTypeOf(calls.withLocks).returns.resolves.toEqualTypeOf<{ done: boolean }>()
  expectTypeOf(calls.lock).returns.resolves.toEqualTypeOf<Receipt>()
  expectTypeOf(calls.fenced).returns.resolves.toEqualTypeOf<number>()
})

test("the work is given the driver's own transaction, and what is held", () => {
  const pg = {} as { readonly locks: Pg }
  const mysql = {} as { readonly locks: Mysql }
  const typed = (): void => {
    void pg.locks.withLock('key', async (tx, held) => {
      expectTypeOf(tx).toEqualTypeOf<PoolClient>()
      expectTypeOf(held).toEqualTypeOf<LockInTransaction>()
    })
    void mysql.locks.withLocks(['key'], async (tx, held) => {
      expectTypeOf(tx).toEqualTypeOf<PoolConnection>()
      expectTypeOf(held).toEqualTypeOf<LocksInTransaction>()
    })
  }
  expectTypeOf(typed).toBeFunction()
})

test('handles are disposable, and only a lease has a fence', () => {
  expectTypeOf<Pg['acquire']>().returns.resolves.toEqualTypeOf<Held>()
  expectTypeOf<Pg['lease']>().returns.resolves.toEqualTypeOf<Lease>()
  expectTypeOf<Held>().toExtend<AsyncDisposable>()
  expectTypeOf<Lease>().toExtend<AsyncDisposable>()
  expectTypeOf<Lease>().toHaveProperty('fence').toEqualTypeOf<number>()
  expectTypeOf<Held>().not.toHaveProperty('fence')
  expectTypeOf<Pg['fenced']>().parameter(0).toEqualTypeOf<Lease>()
  expectTypeOf<Held>().not.toExtend<Lease>()
})

test('keys are texts, whole numbers, tuples of them and raw keys', () => {
  expectTypeOf<Pg['lease']>().parameter(0).toEqualTypeOf<LockKey>()
  expectTypeOf<['user', 7, 7n]>().toExtend<LockKey>()
  expectTypeOf<{ raw: 'int64'; value: bigint }>().toExtend<LockKey>()
  expectTypeOf<null>().not.toExtend<LockKey>()
  expectTypeOf<Date>().not.toExtend<LockKey>()
  expectTypeOf<{ id: 7 }>().not.toExtend<LockKey>()
})

test('options that a call does not have, do not compile', () => {
  const locks = {} as Pg
  const work = async (): Promise<void> => {}
  // @ts-expect-error a named lock cannot be skipped
  expectTypeOf(locks.withLock).toBeCallableWith('key', work, { wait: 'skip' })
  // @ts-expect-error tryLock never waits
  expectTypeOf(locks.tryLock).toBeCallableWith('key', work, { wait: 'nowait' })
  // @ts-expect-error a timeout is a number of milliseconds
  expectTypeOf(locks.withLock).toBeCallableWith('key', work, { wait: { timeoutMs: '5s' } })
  // @ts-expect-error a lock of a transaction needs no time to live
  expectTypeOf(locks.withLock).toBeCallableWith('key', work, { ttlMs: 1000 })
  // @ts-expect-error a handle outlives the transaction
  expectTypeOf(locks.acquire).toBeCallableWith('key', { scope: 'transaction' })
  // @ts-expect-error a lease is exclusive
  expectTypeOf(locks.lease).toBeCallableWith('key', { mode: 'shared' })
  // @ts-expect-error a key is needed
  expectTypeOf(locks.lease).toBeCallableWith(undefined)
  // @ts-expect-error what is held for a connection has no fence
  expectTypeOf(locks.fenced).toBeCallableWith({} as Held, work)
})
