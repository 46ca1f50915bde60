import type { DuckDBConnection } from '@duckdb/node-api'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'

import { LockTimeoutError, RetryableTransactionError } from '../../src/core/errors.ts'
import { createLocks as duckdb } from '../../src/entries/duckdb.ts'
import { createLocks } from '../../src/entries/pg.ts'
import type { Locks } from '../../src/locks.ts'
import { NoAnswerError } from '../../src/locks/limit.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught, describeEntries, gate, type Stage } from './stage.ts'
import { counterOf, subjects, type Entry } from './subject.ts'

describeEntries(named)
for (const { title, engines, connect } of subjects)
  describe(title, () => {
    describeEngines((context) => elsewhere(context, connect), { only: engines })
  })
describeEngines(inside, { only: ['postgres'] })
describeEngines(repeating, { only: ['duckdb'] })

/** The client gives up later: then the cause says that there was no answer. */
function expectServersEnd(error: unknown, budgetMs: number): void {
  expect(error).toBeInstanceOf(LockTimeoutError)
  expect(error).toMatchObject({
    timeoutMs: budgetMs,
    message: expect.stringMatching(new RegExp(`not acquired within ${budgetMs} ms \\(budgetMs\\)$`)),
  })
  expect((error as Error).cause).not.toBeInstanceOf(NoAnswerError)
}

function named(stage: Stage): void {
  test.for([{}, { lockTimeoutMs: 60_000 }, { wait: { timeoutMs: 60_000 } }])(
    'a wait for a named lock ends with what is left of the budget, with %j',
    async (limits) => {
      const { locks } = stage.entry
      const [held, ending] = [gate(), gate()]
      const holder = locks.withLock('budget', async () => {
        held.open()
        await ending.opened
      })
      await held.opened
      const waiters = [1, 2].map(() =>
        caught(locks.withLock('budget', async () => {}, { budgetMs: 300, ...limits })),
      )
      try {
        // of two in one process only the first waits in the server
        for (const error of await Promise.all(waiters)) expectServersEnd(error, 300)
      } finally {
        ending.open()
        await holder
      }
    },
  )
}

/** Of two pools: within one, callers take turns. */
function elsewhere(context: EngineContext, connect: (url: string) => Promise<Entry<unknown>>): void {
  type Held = (locks: Entry<unknown>['locks'], work: () => Promise<void>, how?: Limits) => Promise<unknown>
  type Limits = { readonly budgetMs: number; readonly wait?: { readonly timeoutMs: number } }

  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.close()
  })

  async function expectEnd(lock: Held): Promise<void> {
    const { engine } = context
    const [holder, waiter] = [await connect(engine.server.url), await connect(engine.server.url)]
    const [held, ending] = [gate(), gate()]
    const holding = lock(holder.locks, async () => {
      held.open()
      await ending.opened
    })
    await held.opened
    try {
      for (const limits of [{}, { wait: { timeoutMs: 60_000 } }]) {
        const error = await caught(lock(waiter.locks, async () => {}, { budgetMs: 300, ...limits }))
        expect(error).toBeInstanceOf(LockTimeoutError)
        expect(error).toMatchObject({
          timeoutMs: 300,
          message: expect.stringContaining('not acquired within 300 ms (budgetMs)') as unknown,
        })
      }
    } finally {
      ending.open()
      await holding
      await Promise.all([holder.close(), waiter.close()])
    }
  }

  test('a wait for what another pool has locked ends with the budget, and says so', () =>
    expectEnd((locks, work, limits) => locks.withLock('elsewhere', work, limits)))

  // where a transaction is repeated until the rows are free, nothing but the library ends the wait
  test.runIf(['duckdb', 'mongodb'].includes(context.name))('so does one for rows', () =>
    expectEnd((locks, work, { wait, ...limits } = { budgetMs: 300_000 }) =>
      locks.transaction(async (tx) => {
        await locks.rows(tx, counterOf(context.name), wait && { wait })
        await work()
      }, limits),
    ),
  )
}

function inside(context: EngineContext): void {
  const row = { table: 'budgeted', key: { id: 1 } }

  async function during(
    settings: pg.PoolConfig,
    work: (locks: Locks<pg.PoolClient, 'postgres'>, owner: pg.Client) => Promise<void>,
  ): Promise<void> {
    const connectionString = context.engine.server.url
    const owner = new pg.Client({ connectionString })
    const pool = new pg.Pool({ connectionString, max: 2, ...settings })
    await owner.connect()
    await owner.query('drop table if exists budgeted')
    await owner.query('create table budgeted (id int primary key)')
    await owner.query('insert into budgeted values (1)')
    try {
      await work(createLocks(pool), owner)
    } finally {
      await owner.end()
      await pool.end()
    }
  }

  async function limitSeen(tx: pg.PoolClient): Promise<number> {
    const { rows } = await tx.query<{ setting: string }>(
      "select setting from pg_settings where name = 'lock_timeout'",
    )
    return Number(rows[0]?.setting)
  }

  test.for([{}, { lockTimeoutMs: 60_000 }])('so do the waits of the work, with %j', (limits) =>
    during({}, async (locks, owner) => {
      const options = { budgetMs: 300, ...limits }
      await owner.query('begin')
      await owner.query('select id from budgeted for update')
      await owner.query("select pg_advisory_xact_lock(hashtext('x'))")
      await owner.query('savepoint s')
      await owner.query('lock table budgeted in share row exclusive mode')
      expectServersEnd(await caught(locks.transaction((tx) => locks.rows(tx, row), options)), 300)
      const joined = { ...options, isolation: 'read committed' } as const
      const key = { raw: 'hashtext', text: 'x' } as const
      expectServersEnd(await caught(locks.transaction((tx) => locks.lock(tx, key), joined)), 300)
      const table = locks.transaction((tx) => locks.table(tx, 'budgeted'), joined)
      expectServersEnd(await caught(table), 300)
      const update = locks.transaction((tx) => tx.query('update budgeted set id = 1'), options)
      expect(await caught(update)).toMatchObject({ name: 'LockTimeoutError', cause: { code: '55P03' } })
    }),
  )

  test('each attempt has what the others have left of it', () =>
    during({}, async (locks) => {
      const seen: number[] = []
      await locks.transaction(
        async (tx) => {
          seen.push(await limitSeen(tx))
          if (seen.length < 3) throw new RetryableTransactionError('deadlock', 'for the test')
        },
        { budgetMs: 60_000 },
      )
      expect(seen.toSorted((a, b) => b - a)).toEqual(seen)
      expect(new Set(seen).size).toBe(3)
      expect(seen[0]).toBeLessThanOrEqual(60_000)
    }))

  test.for(['transaction', 'read-only', 'withLock'] as const)(
    'a lower limit of the server stays, and what had none has none afterwards: %s',
    (call) =>
      during({ max: 1, options: '-c lock_timeout=2min' }, async (locks) => {
        const seenIn = (budgetMs: number): Promise<number> =>
          call === 'withLock'
            ? locks.withLock('b', limitSeen, { budgetMs })
            : locks.transaction(limitSeen, {
                budgetMs,
                ...(call === 'read-only' && { access: call, isolation: 'read committed' }),
              })
        expect(await seenIn(3_600_000)).toBe(120_000)
        const lower = await seenIn(60_000)
        expect(lower).toBeLessThanOrEqual(60_000)
        expect(lower).toBeGreaterThan(0)
        expect(await locks.transaction(limitSeen)).toBe(120_000)
      }),
  )

  test('a lower limit of the server that ends a wait is not called the budget', () =>
    during({ options: '-c lock_timeout=300ms' }, async (locks, owner) => {
      await owner.query('begin')
      await owner.query('select id from budgeted for update')
      const error = await caught(locks.transaction((tx) => locks.rows(tx, row), { budgetMs: 600_000 }))
      expect(error).toBeInstanceOf(LockTimeoutError)
      expect(error).toMatchObject({ message: expect.stringContaining("the server's own limit") as unknown })
      expect(error).not.toHaveProperty('timeoutMs')
    }))

  test('a transaction that only reads still has its snapshot from its own first read', () =>
    during({}, async (locks, owner) => {
      const options = { access: 'read-only', isolation: 'repeatable read', budgetMs: 600_000 } as const
      const seen = await locks.transaction(async (tx) => {
        await tx.query("set local application_name = 'reader'")
        await owner.query('insert into budgeted values (2)')
        return (await tx.query('select id from budgeted')).rows.length
      }, options)
      expect(seen).toBe(2)
    }))
}

/** Here a lock is waited for by repeating the transaction, each time on another connection. */
function repeating(context: EngineContext): void {
  test('a budget that ends while the connection is waited for is said of the lock, which is waited for still', async () => {
    const instance = await (await loadDuckdb()).DuckDBInstance.fromCache(context.engine.server.url)
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.close()
    let left = Infinity
    const connect: typeof instance.connect = () => {
      if (left === 0) return new Promise(() => {})
      left -= 1
      return instance.connect()
    }
    const locks = duckdb(Object.assign(Object.create(instance) as typeof instance, { connect }))
    const lock = (tx: DuckDBConnection): Promise<unknown> => locks.rows(tx, counterOf('duckdb'))
    await locks.transaction(lock) // makes what the locks need
    const [held, ending] = [gate(), gate()]
    const holding = locks.transaction(async (tx) => {
      await lock(tx)
      held.open()
      await ending.opened
    })
    await held.opened
    left = 1
    const waiting = locks.transaction(lock, { budgetMs: 300 })
    const error = await caught(waiting).finally(ending.open)
    await holding
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({
      timeoutMs: 300,
      message: expect.stringContaining('not acquired within 300 ms (budgetMs)') as unknown,
    })
  })
}
