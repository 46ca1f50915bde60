import type { Socket } from 'node:net'

import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import {
  CommitOutcomeUnknownError,
  LockTimeoutError,
  LockUsageError,
  RetryableTransactionError,
} from '../../src/core/errors.ts'
import { createLocks, type Locks } from '../../src/entries/pg.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
import { caught } from '../entries/stage.ts'
import { postgresProtocol } from '../wire/protocols.ts'
import { startProxy } from '../wire/proxy.ts'

describe('a batch on PostgreSQL, which is sent as a whole', () => {
  describeEngines(specs, { only: ['postgres'] })
})

function noSuchDate(): never {
  throw new Error('no such date')
}

const key = 'whole'
const add = { sql: 'insert into journal values ($1)', params: [1] } as const

function specs(context: EngineContext): void {
  const closing: (() => Promise<unknown>)[] = []
  const locksAt = (url: string, config: pg.PoolConfig = {}): Locks<pg.PoolClient, 'postgres'> => {
    const pool = new pg.Pool({ connectionString: url, max: 2, ...config })
    pool.on('error', () => {})
    closing.push(() => pool.end())
    return createLocks(pool)
  }
  const ask = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const session = await context.engine.open()
    return session.run({ sql, params: [] }).finally(() => session.close())
  }
  const stored = async (): Promise<number> => Number((await ask('select count(*) as n from journal'))[0]?.n)
  const waiting = async (): Promise<readonly Record<string, unknown>[]> =>
    ask(
      "select pid from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
    )

  beforeEach(async () => {
    for (const sql of ['drop table if exists journal', 'create table journal (n integer)']) await ask(sql)
  })
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
    await until(async () => (await context.engine.leftovers()).length === 0, 'nothing left')
  })

  test.each([
    ['no limit', {}],
    ['a limit of time for the lock', { wait: { timeoutMs: 60_000 } }],
    ['a limit of time for every lock', { lockTimeoutMs: 60_000 }],
  ])('takes one round trip, with %s', async (_, options) => {
    const proxy = await startProxy(context.engine.server.url, postgresProtocol)
    closing.push(() => proxy.close())
    const locks = locksAt(proxy.url, { max: 1 })
    await locks.transaction(async () => {})
    await locks.batch(key, [add])
    const guarded = { ...add, expect: { rows: 1 } } as const
    const trips = await proxy.during(() => locks.batch(key, [add, guarded, { sql: 'select 1' }], options))
    expect(trips).toHaveLength(1)
    expect(trips[0]).toMatch(/^BEGIN.*pg_advisory_xact_lock.*insert into journal.*COMMIT$/s)
    expect(await stored()).toBe(3)
  })

  describe('when the connection breaks', () => {
    let proxy: CuttingProxy
    beforeEach(async () => {
      proxy = await startCuttingProxy(context.engine.server.url)
      closing.push(() => proxy.close())
    })

    test.each([
      ['before the server has heard of it', 'before', 0],
      ['after the server has stored it', 'after', 1],
    ] as const)('%s, nobody knows, and it is not run again', async (_, when, count) => {
      const locks = locksAt(proxy.url)
      await locks.batch(key, [{ sql: 'select 1' }])
      const cut = proxy.cutAt('COMMIT', when)
      const error = await caught(locks.batch(key, [add]))
      await cut
      expect(error).toBeInstanceOf(CommitOutcomeUnknownError)
      expect(error).toMatchObject({ isStored: undefined })
      expect(await stored()).toBe(count)
    })

    test.each([
      ['gave no rows, it is done', [add, { ...add, expect: { rows: 1 } }], [[], []]],
      ['gave rows, it is said to be stored', [add, { sql: 'select 1' }], undefined],
    ] as const)('and the caller knows that what is stored %s', async (_, statements, results) => {
      const locks = locksAt(proxy.url)
      await locks.batch(key, [{ sql: 'select 1' }])
      const cut = proxy.cutAt('COMMIT', 'after')
      const before = await stored()
      const batch = locks.batch(key, statements, { verifyCommit: async () => (await stored()) > before })
      if (results !== undefined) expect(await batch).toEqual(results)
      else {
        const said = await caught(batch)
        expect(said).toBeInstanceOf(CommitOutcomeUnknownError)
        expect(said).toMatchObject({ isStored: true, message: expect.stringContaining('are stored') })
        expect(classifyError(said)).toMatchObject({ kind: 'other', retryable: false })
      }
      await cut
      expect(await stored()).toBe(before + statements.filter(({ sql }) => sql === add.sql).length)
    })

    test('and the caller knows that nothing is stored, it is run again', async () => {
      const locks = locksAt(proxy.url)
      await locks.batch(key, [{ sql: 'select 1' }])
      const cut = proxy.cutAt('COMMIT', 'before')
      await locks.batch(key, [add], { verifyCommit: async () => (await stored()) > 0 })
      await cut
      expect(await stored()).toBe(1)
    })

    test('and the caller knows that nothing is stored, but there is no attempt left, the error says to run it again', async () => {
      const locks = locksAt(proxy.url)
      await locks.batch(key, [{ sql: 'select 1' }])
      const cut = proxy.cutAt('COMMIT', 'before')
      const said = await caught(locks.batch(key, [add], { attempts: 1, verifyCommit: async () => false }))
      await cut
      expect(said).toBeInstanceOf(RetryableTransactionError)
      expect(said).toMatchObject({
        kind: 'connection-lost',
        message: expect.stringContaining('verifyCommit'),
      })
      expect(classifyError(said).retryable).toBe(true)
    })
  })

  test('when its connection is ended while it waits for the lock, the server is asked, and it is run again', async () => {
    const locks = locksAt(context.engine.server.url, { max: 3 })
    await locks.batch(key, [{ sql: 'select 1' }])
    const held = await locks.acquire(key)
    const batch = locks.batch(key, [add])
    await until(async () => (await waiting()).length > 0, 'a batch that waits')
    for (const { pid } of await waiting()) await ask(`select pg_terminate_backend(${String(pid)})`)
    await until(async () => (await waiting()).length > 0, 'a batch that waits again')
    await held.release()
    await batch
    expect(await stored()).toBe(1)
  })

  test('one that has no time left to wait for the lock says that, and is not stored', async () => {
    const locks = locksAt(context.engine.server.url, { max: 3 })
    await locks.batch(key, [{ sql: 'select 1' }])
    const held = await locks.acquire(key)
    const said = await caught(locks.batch(key, [add], { budgetMs: 100 }))
    expect(said).toBeInstanceOf(LockTimeoutError)
    expect(said).toMatchObject({
      message: expect.stringMatching(/"whole" not acquired within 100 ms \(budgetMs\)/),
    })
    await held.release()
    expect(await stored()).toBe(0)
  })

  test('what is aborted while it waits in the server is not stored', async () => {
    const locks = locksAt(context.engine.server.url)
    const held = await locks.acquire(key)
    const stop = new AbortController()
    const batch = caught(locks.batch(key, [add], { signal: stop.signal }))
    await until(async () => (await waiting()).length > 0, 'a batch that waits')
    stop.abort(new Error('enough'))
    expect(await batch).toMatchObject({ message: 'enough' })
    await held.release()
    expect(await stored()).toBe(0)
  })

  test('the cancel of one that was aborted hits nobody who uses the pool next', async () => {
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
    closing.push(() => pool.end())
    const locks = createLocks(pool)
    await locks.batch(key, [{ sql: 'select 1' }])
    for (let round = 0; round < 40; round += 1) {
      const stop = new AbortController()
      const batch = caught(locks.batch(key, [{ sql: 'select pg_sleep(0.002)' }], { signal: stop.signal }))
      const next = pool.query('select pg_sleep(0.01)')
      setTimeout(() => stop.abort(new Error('enough')), round % 8)
      await batch
      await next
    }
  })

  test('one that a broken connection was lent for is known not to be sent, and is run again', async () => {
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 2 })
    pool.on('error', () => {})
    closing.push(() => pool.end())
    const locks = createLocks(pool)
    await locks.batch(key, [{ sql: 'select 1' }])
    const connect = pool.connect.bind(pool)
    let isBroken = false
    pool.connect = (async () => {
      const client = await connect()
      if (isBroken) return client
      isBroken = true
      const gone = new Promise<void>((resolve) => void client.once('end', resolve))
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      client.on('error', () => {})
      await ask(`select pg_terminate_backend(${rows[0]?.pid})`)
      await gone
      return client
    }) as never
    await locks.batch(key, [add])
    expect(isBroken).toBe(true)
    expect(await stored()).toBe(1)
  })

  test('one on a connection that the server had ended before is known not to be stored, and is run again', async () => {
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 2 })
    pool.on('error', () => {})
    closing.push(() => pool.end())
    const locks = createLocks(pool)
    await locks.batch(key, [{ sql: 'select 1' }])
    const connect = pool.connect.bind(pool)
    let pid: unknown
    pool.connect = (async () => {
      const client = await connect()
      if (pid !== undefined) return client
      pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
      const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } })
        .connection
      client.on('error', () => {})
      // the word of the end is on its way when the batch is sent
      stream.pause()
      await ask(`select pg_terminate_backend(${String(pid)})`)
      const running = `select pid from pg_stat_activity where pid = ${String(pid)}`
      await until(async () => (await ask(running)).length === 0, 'the end of the session')
      const query = client.query.bind(client) as (...of: readonly unknown[]) => unknown
      client.query = ((...of: readonly unknown[]) => {
        const sent = query(...of)
        stream.resume()
        return sent
      }) as never
      return client
    }) as never
    let why: unknown
    await locks.batch(key, [add], { onRetry: ({ error }) => void (why = error) })
    expect(why).toMatchObject({ code: '57P01' })
    expect(await stored()).toBe(1)
  })

  test.each([
    ['too few values', { sql: 'insert into journal select $1::int + $2::int', params: [1] }, '08P01'],
    ['a text with a NUL character', { sql: 'insert into journal values ($1) -- \0', params: [1] }, '08P01'],
    ['a value with one', { sql: 'insert into journal values ($1)', params: ['1\0'] }, '22021'],
    [
      'what only looks like a guard',
      { sql: 'select $1::int', params: ['holdfast: other rows than expected'] },
      '22P02',
    ],
  ] as const)('%s is the error of the driver, and is run once', async (_, statement, code) => {
    const locks = locksAt(context.engine.server.url)
    let retries = 0
    const said = await caught(locks.batch(key, [add, statement], { onRetry: () => void (retries += 1) }))
    expect(said).toMatchObject({ code })
    expect([retries, await stored()]).toEqual([0, 0])
  })

  test.each([
    ['an operator that is a comment elsewhere', 'update journal set n = n # 1 returning n', undefined],
    [
      'WITH behind a comment',
      '/* c */ with x as (update journal set n = 2 returning n) select n from x',
      [{ n: 2 }],
    ],
    [
      'a query called update',
      'with update as (update journal set n = 3 returning n) select n from update',
      [{ n: 3 }],
    ],
    ['a column called output', 'update journal set output = 1', []],
  ] as const)('%s is read as the server does, or refused', async (_, sql, rows) => {
    const locks = locksAt(context.engine.server.url)
    await ask('alter table journal add column output integer')
    await ask('insert into journal values (1)')
    const said = await caught(locks.batch(key, [{ sql, expect: { rows: 1 } }]))
    if (rows === undefined) expect(said).toBeInstanceOf(LockUsageError)
    else expect(await locks.batch(key, [{ sql, expect: { rows: 1 } }])).toEqual([rows])
  })

  test('whenever it is aborted, it is stored if and only if the call says so', async () => {
    const locks = locksAt(context.engine.server.url, { max: 4 })
    await locks.batch(key, [{ sql: 'select 1' }])
    let resolved = 0
    const slow = { sql: 'select pg_sleep(0.003)' }
    const tries = Array.from({ length: 80 }, async (_, index) => {
      const stop = new AbortController()
      setTimeout(() => stop.abort(new Error('enough')), index % 40)
      const over = await caught(locks.batch([key, index % 3], [add, slow], { signal: stop.signal }))
      if (over === 'no error') resolved += 1
      else expect(over).toMatchObject({ message: 'enough' })
    })
    await Promise.all(tries)
    expect(await stored()).toBe(resolved)
  })

  test('a statement that loses against another is run again with all the others', async () => {
    const locks = locksAt(context.engine.server.url, { max: 4 })
    await ask('insert into journal values (10), (20)')
    const move = (first: number, second: number): Promise<unknown> =>
      locks.batch(
        [key, first],
        [
          { sql: 'update journal set n = n + 1 where n / 10 = $1', params: [first] },
          { sql: 'select pg_sleep(0.05)' },
          { sql: 'update journal set n = n + 1 where n / 10 = $1', params: [second] },
        ],
      )
    for (let round = 0; round < 3; round += 1) await Promise.all([move(1, 2), move(2, 1)])
    const rows = await ask('select n from journal order by n')
    expect(rows.map(({ n }) => n)).toEqual([16, 26])
  })

  test('a parser of the application that fails says so, and that everything is stored', async () => {
    const date: number = 1082
    const failing: pg.CustomTypesConfig = {
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === date ? noSuchDate : (pg.types.getTypeParser(type, format ?? 'text') as unknown),
    }
    const locks = locksAt(context.engine.server.url, { types: failing })
    const said = await caught(locks.batch(key, [add, { sql: 'select current_date' }, add]))
    expect(said).toBeInstanceOf(LockUsageError)
    expect(said).toMatchObject({ isStored: true, cause: { message: 'no such date' } })
    expect(await stored()).toBe(2)
    expect(await locks.batch(key, [{ sql: 'select 1 as n' }])).toEqual([[{ n: 1 }]])
  })

  test('values of every kind arrive as they do in a query of its own', async () => {
    const url = context.engine.server.url
    const locks = locksAt(url)
    const values = [7, 'a', null, new Date(0), Buffer.from([0, 255]), [1, 2], { a: [1] }, true, 2n ** 60n]
    const types = ['int', 'text', 'text', 'timestamptz', 'bytea', 'int[]', 'jsonb', 'boolean', 'bigint']
    const sql = `select ${types.map((type, index) => `$${index + 1}::${type} as v${index}`).join(', ')}`
    const [rows] = await locks.batch(key, [{ sql, params: values }])
    const pool = new pg.Pool({ connectionString: url })
    closing.push(() => pool.end())
    expect(rows).toEqual((await pool.query(sql, values)).rows)
  })
}
