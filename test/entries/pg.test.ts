import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { LockTimeoutError, RetryableTransactionError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/pg.ts'
import type { Locks } from '../../src/locks.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'
import { counterOf } from './subject.ts'

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  let pool: pg.Pool
  let locks: Locks<pg.PoolClient, 'postgres'>
  let other: EngineSession
  beforeAll(async () => {
    // one connection, so that its next user is always the one after
    pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
    pool.on('error', () => {})
    locks = createLocks(pool)
    other = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await other.run(statement)
  })
  afterEach(() =>
    until(async () => (await context.engine.leftovers()).length === 0, 'a server on which nothing is left'),
  )
  afterAll(async () => {
    await other.close()
    await pool.end()
  })
  const show = async (client: pg.PoolClient | pg.Pool, name: string): Promise<unknown> =>
    (await client.query<Record<string, unknown>>(`show ${name}`)).rows[0]?.[name]
  const increment = (tx: pg.PoolClient): Promise<unknown> =>
    tx.query('update counter set n = n + 1 where id = 1')
  const seen = async (): Promise<unknown> => (await other.run(context.kind.sample.read))[0]?.n

  test('a driver that parses nothing tells what was granted, and what was not', async () => {
    const types = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig
    const unparsed = new pg.Pool({ connectionString: context.engine.server.url, max: 2, types })
    const texts = createLocks(unparsed)
    const held = await texts.acquire('unparsed')
    expect(await texts.tryLock('unparsed', async () => 'mine')).toEqual({ acquired: false })
    const { sessions } = await texts.inspect()
    expect(sessions.flatMap(({ holds }) => holds).filter(({ key }) => key === 'unparsed')).toHaveLength(1)
    await held.release()
    expect(await texts.tryLock('unparsed', async () => 'mine')).toEqual({ acquired: true, value: 'mine' })
    await unparsed.end()
  })

  test.each(['read committed', 'repeatable read', 'serializable'] as const)(
    'the server says that the transaction is %s, and the next user of the connection has the usual',
    async (isolation) => {
      const before = await show(pool, 'transaction_isolation')
      expect(await locks.transaction((tx) => show(tx, 'transaction_isolation'), { isolation })).toBe(
        isolation,
      )
      expect(await show(pool, 'transaction_isolation')).toBe(before)
    },
  )

  test('a connection that was given back has no listeners more than before', async () => {
    const listeners = async (): Promise<number[]> => {
      const client = await pool.connect()
      const { connection } = client as unknown as { connection: EventEmitter }
      const counts = [client, connection].flatMap((emitter) =>
        emitter.eventNames().map((event) => emitter.listenerCount(event)),
      )
      client.release()
      return counts
    }
    await locks.transaction(increment)
    const before = await listeners()
    for (let turn = 0; turn < 3; turn += 1) await locks.transaction(increment)
    await locks.withLock('listeners', increment)
    expect(await listeners()).toEqual(before)
  })

  test('a read-only transaction cannot write', async () => {
    await expect(locks.transaction(increment, { access: 'read-only' })).rejects.toMatchObject({
      code: '25006',
    })
  })

  test('a lock timeout is in force in the transaction, and gone for the next user of the connection', async () => {
    const before = await show(pool, 'lock_timeout')
    expect(await locks.transaction((tx) => show(tx, 'lock_timeout'), { lockTimeoutMs: 1234 })).toBe('1234ms')
    expect(await show(pool, 'lock_timeout')).toBe(before)
  })

  test("a lock timeout ends the wait of the work's own statements too", async () => {
    await other.begin()
    await other.run(context.kind.sample.increment)
    const refused = await caught(locks.transaction(increment, { lockTimeoutMs: 100, budgetMs: 60_000 }))
    await other.rollback()
    expect(refused).toBeInstanceOf(LockTimeoutError)
    expect(refused).toMatchObject({
      message: 'a lock was not acquired in time (postgres 55P03; lockTimeoutMs is 100; budgetMs is 60000)',
      cause: { code: '55P03' },
    })
  })

  test('with a savepoint, a lock that is refused leaves the transaction usable', async () => {
    const before = Number(await seen())
    await other.run({ sql: 'insert into counter values (2, 0) on conflict do nothing', params: [] })
    await other.begin()
    await other.run({ sql: 'select n from counter where id = 2 for update', params: [] })
    await locks.transaction(async (tx) => {
      const taken = { table: 'counter', key: { id: 2 } }
      await expect(locks.rows(tx, taken, { wait: 'nowait', savepoint: true })).rejects.toThrow(
        'another holder has it',
      )
      expect([...(await locks.rows(tx, taken, { wait: 'skip' }))]).toEqual([])
      await increment(tx)
    })
    await other.rollback()
    expect(await seen()).toBe(before + 1)
  })

  test('an error that the work has caught is not taken for stored, and is the cause', async () => {
    const before = await seen()
    const work = async (tx: pg.PoolClient): Promise<void> => {
      await increment(tx)
      await tx.query('insert into counter values (1, 0)').catch(() => {})
    }
    const refused = await caught(locks.transaction(work))
    expect(refused).toMatchObject({ name: 'LockUsageError', field: 'transaction', cause: { code: '23505' } })
    expect(await seen()).toBe(before)
  })

  test('a deadlock that the work has caught is another attempt all the same', async () => {
    const before = Number(await seen())
    let attempts = 0
    await locks.transaction(async (tx) => {
      attempts += 1
      await increment(tx)
      if (attempts === 1) await tx.query(`do $$ begin raise sqlstate '40P01'; end $$`).catch(() => {})
    })
    expect(attempts).toBe(2)
    expect(await seen()).toBe(before + 1)
  })

  test('a serialization failure at every attempt is the one retryable class', async () => {
    const work = async (tx: pg.PoolClient): Promise<void> =>
      void (await tx.query(`do $$ begin raise sqlstate '40001'; end $$`))
    const lost = await caught(locks.transaction(work, { attempts: 2, backoff: { baseMs: 1 } }))
    expect(lost).toBeInstanceOf(RetryableTransactionError)
    expect(lost).toMatchObject({ kind: 'serialization', code: 'TX_RETRYABLE', cause: { code: '40001' } })
  })

  test("an abort ends the work's own statement on the server", async () => {
    const controller = new AbortController()
    const reason = new Error('changed my mind')
    let pid = 0
    const work = async (tx: pg.PoolClient): Promise<void> => {
      pid = (await tx.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0
      await tx.query('select pg_sleep(600)')
    }
    const isThere = async (): Promise<boolean> =>
      (
        await other.run({
          sql: `select 1 from pg_stat_activity where pid = $1 and query like '%pg_sleep%'`,
          params: [pid],
        })
      ).length > 0
    const ended = caught(locks.transaction(work, { signal: controller.signal }))
    await until(isThere, 'the statement of the work')
    controller.abort(reason)
    expect(await ended).toBe(reason)
    await until(async () => !(await isThere()), 'its end')
  })

  test('a SELECT gets the lock at its end, and a function is told what it is', async () => {
    const [a, b] = await locks.transaction(async (tx) => [
      await locks.rows(tx, { sql: 'select n from counter where id = $1;', params: [1] }, { wait: 'nowait' }),
      await locks.rows(tx, ({ clause }) => `select n from counter where id = 1 ${clause}`, {
        mode: 'shared',
      }),
    ])
    expect(a?.receipt.statements).toEqual([
      { sql: 'select n from counter where id = $1 FOR UPDATE NOWAIT', params: [1] },
    ])
    expect(b?.receipt).toMatchObject({ asked: 'shared', granted: 'shared' })
    expect([...(b ?? [])]).toHaveLength(1)
  })

  test('the target of all engines is locked by its key', async () => {
    const rows = await locks.transaction((tx) => locks.rows(tx, counterOf('postgres'), { wait: 'skip' }))
    expect(rows).toHaveLength(1)
  })

  test.for(['transaction', 'withLock'] as const)(
    'budgetMs of %s also ends the wait for a connection',
    async (call) => {
      const borrowed = await pool.connect()
      const options = { budgetMs: 50 }
      const work = (): Promise<void> => Promise.resolve()
      const calling =
        call === 'transaction' ? locks.transaction(work, options) : locks.withLock('k', work, options)
      const error = await caught(calling)
      borrowed.release()
      expect(error).toBeInstanceOf(LockTimeoutError)
      // by itself it would have ended after a minute
      expect(error).toMatchObject({
        message: expect.stringMatching(/came free in \d{1,2} ms for a transaction/),
      })
      expect(await locks.transaction(async () => 'clean')).toBe('clean')
    },
  )
}
