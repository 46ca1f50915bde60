import mysql from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mysql2.ts'
import type { Locks } from '../../src/locks.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'

describeEngines(specs, { only: ['mysql', 'mariadb'] })

const LEVEL = `
  select isolation_level as level from performance_schema.events_transactions_current
    join performance_schema.threads using (thread_id) where processlist_id = ?`

function specs(context: EngineContext): void {
  let pool: mysql.Pool
  let locks: Locks<mysql.PoolConnection, 'mysql' | 'mariadb'>
  let other: EngineSession
  beforeAll(async () => {
    // one connection, so that its next user is always the one after
    pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
    locks = createLocks(pool)
    other = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await other.run(statement)
    await other.run(sql('insert into counter values (2, 0), (3, 0), (4, 0), (5, 0)'))
  })
  afterEach(() =>
    until(async () => (await context.engine.leftovers()).length === 0, 'a server on which nothing is left'),
  )
  afterAll(async () => {
    await other.close()
    await pool.end()
  })
  const sql = (text: string, ...params: number[]): { sql: string; params: number[] } => ({
    sql: text,
    params,
  })
  const ask = async (tx: mysql.PoolConnection | mysql.Pool, text: string): Promise<unknown> =>
    (await tx.query<mysql.RowDataPacket[]>(`select ${text} as answer`))[0][0]?.answer
  const increment = (tx: mysql.PoolConnection): Promise<unknown> =>
    tx.query('update counter set n = n + 1 where id = 1')
  const seen = async (): Promise<unknown> => (await other.run(context.kind.sample.read))[0]?.n

  test.each([{ nestTables: true as const }, { rowsAsArray: true }])(
    "the driver's shape of rows is not that of Holdfast's own statements: %j",
    async (shape) => {
      const shaped = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 2, ...shape })
      expect(await createLocks(shaped).tryLock('shaped', async () => 'mine')).toEqual({
        acquired: true,
        value: 'mine',
      })
      await shaped.end()
    },
  )

  test.each(['read committed', 'repeatable read', 'serializable'] as const)(
    'the server says that the transaction is %s, and the next one on the connection has the usual',
    async (isolation) => {
      const levelOf = async (tx: mysql.PoolConnection): Promise<unknown> => {
        await increment(tx)
        return (await other.run(sql(LEVEL, tx.threadId)))[0]?.level
      }
      expect(await locks.transaction(levelOf, { isolation })).toBe(isolation.toUpperCase())
      expect(await locks.transaction(levelOf)).toBe('REPEATABLE READ')
    },
  )

  test('a lock timeout is in force in the transaction, and gone for the next user of the connection', async () => {
    const timeout = '@@innodb_lock_wait_timeout'
    const before = await ask(pool, timeout)
    expect(await locks.transaction((tx) => ask(tx, timeout), { lockTimeoutMs: 2500 })).toBe(3)
    expect(await ask(pool, timeout)).toBe(before)
    const mine = new Error('of the work')
    expect(await caught(locks.transaction(() => Promise.reject(mine), { lockTimeoutMs: 2500 }))).toBe(mine)
    expect(await ask(pool, timeout)).toBe(before)
  })

  test("a lock timeout ends the wait of the work's own statements too, and undoes all of the work", async () => {
    const before = await seen()
    await other.begin()
    await other.run(sql('update counter set n = n + 1 where id = 2'))
    const work = async (tx: mysql.PoolConnection): Promise<void> => {
      await increment(tx)
      await tx.execute('update counter set n = n + 1 where id = 2')
    }
    const refused = await caught(locks.transaction(work, { lockTimeoutMs: 1000 }))
    await other.rollback()
    expect(refused).toBeInstanceOf(LockTimeoutError)
    expect(refused).toMatchObject({
      message: expect.stringMatching(
        /^a lock was not acquired in time \(.*; lockTimeoutMs is 1000\)$/,
      ) as unknown,
      cause: { errno: 1205 },
    })
    expect(await seen()).toBe(before)
  })

  test.each(['query', 'execute', 'prepare'] as const)(
    'a deadlock that the work has caught in %s is another attempt, and nothing is stored half',
    async (way) => {
      const before = Number(await seen())
      let attempts = 0
      await locks.transaction(async (tx) => {
        attempts += 1
        await increment(tx)
        if (attempts === 1) await loseDeadlock(tx, way).catch(() => {})
      })
      expect(attempts).toBe(2)
      expect(await seen()).toBe(before + 1)
    },
  )

  const ways = {
    query: (tx: mysql.PoolConnection, text: string): Promise<unknown> => tx.query(text),
    execute: (tx: mysql.PoolConnection, text: string): Promise<unknown> => tx.execute(text),
    prepare: async (tx: mysql.PoolConnection, text: string): Promise<unknown> =>
      (await tx.prepare(text)).execute([]),
  }

  /** Rejects with the error of a deadlock that the work lost. */
  async function loseDeadlock(tx: mysql.PoolConnection, way: keyof typeof ways): Promise<void> {
    const rival = await context.engine.open()
    const second = 'update counter set n = n + 1 where id = 2'
    try {
      await rival.begin()
      // of two in a deadlock, the one that has changed less is the victim
      await rival.run(sql('update counter set n = n + 1 where id > 1'))
      const waiting = rival.run(sql('update counter set n = n + 0 where id = 1'))
      await until(() => context.engine.isWaiting(rival), 'the rival waits for the first row')
      const victim = ways[way](tx, second)
      await Promise.allSettled([victim, waiting])
      await victim
    } finally {
      await rival.close()
    }
  }

  test('a duplicate key that the work has caught leaves the transaction open, and the rest is stored', async () => {
    const before = Number(await seen())
    await locks.transaction(async (tx) => {
      await increment(tx)
      await tx.query('insert into counter values (1, 0)').catch(() => {})
    })
    expect(await seen()).toBe(before + 1)
  })

  test("an abort ends the work's own statement, on the server and in the work", async () => {
    const controller = new AbortController()
    const reason = new Error('changed my mind')
    let own: Promise<unknown> = Promise.resolve()
    let id = 0
    await other.begin()
    await other.run(sql('update counter set n = n + 1 where id = 1'))
    const ended = caught(
      locks.transaction(
        async (tx) => {
          id = tx.threadId
          own = caught(increment(tx))
          await own
        },
        { signal: controller.signal },
      ),
    )
    await until(() => context.engine.isWaiting({ ...other, id: String(id) }), "the work's statement waits")
    controller.abort(reason)
    expect(await ended).toBe(reason)
    expect(await own).toBe(reason)
    const isThere = async (): Promise<boolean> =>
      (await other.run(sql('select 1 from information_schema.processlist where id = ?', id))).length > 0
    await until(async () => !(await isThere()), 'the end of the connection')
    await other.rollback()
    await locks.transaction(increment)
  })

  test('the connection that the work is given is the real one but for being watched', async () => {
    await locks.transaction(async (tx) => {
      expect(tx).toBeInstanceOf(Object)
      expect(tx.format('select ?', [1])).toBe('select 1')
      expect(await ask(tx, 'connection_id()')).toBe(tx.threadId)
      expect(tx.listenerCount('error')).toBeGreaterThanOrEqual(0)
    })
  })

  test('a server of the other kind than was told is refused where it is asked', async () => {
    const wrong = context.name === 'mysql' ? 'mariadb' : 'mysql'
    const told = createLocks(pool, { dialect: wrong })
    await expect(told.transaction(increment)).rejects.toMatchObject({
      name: 'LockUsageError',
      field: 'dialect',
    })
  })
}
