import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import type { Pool, PoolConnection } from 'mariadb'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mariadb.ts'
import type { Locks } from '../../src/locks.ts'
import type { EngineSession } from '../engines/engine.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'

describeEngines(specs, { only: ['mysql', 'mariadb'] })

type Answers = readonly { readonly answer: unknown }[]

const LEVEL = `
  select isolation_level as level from performance_schema.events_transactions_current
    join performance_schema.threads using (thread_id) where processlist_id = ?`

function specs(context: EngineContext): void {
  let pool: Pool
  let locks: Locks<PoolConnection, 'mysql' | 'mariadb'>
  let other: EngineSession
  beforeAll(async () => {
    // one connection, so that its next user is always the one after
    pool = mariadbPool(context.engine.server.url, { connectionLimit: 1, multipleStatements: true })
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
  const ask = async (tx: PoolConnection | Pool, text: string): Promise<unknown> =>
    (await tx.query<Answers>({ sql: `select ${text} as answer`, bigIntAsNumber: true }))[0]?.answer
  const increment = (tx: PoolConnection): Promise<unknown> =>
    tx.query('update counter set n = n + 1 where id = 1')
  const seen = async (): Promise<unknown> => (await other.run(context.kind.sample.read))[0]?.n

  test.each(['read committed', 'repeatable read', 'serializable'] as const)(
    'the server says that the transaction is %s, and the next one on the connection has the usual',
    async (isolation) => {
      const levelOf = async (tx: PoolConnection): Promise<unknown> => {
        await increment(tx)
        return (await other.run(sql(LEVEL, tx.threadId ?? 0)))[0]?.level
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
    const work = async (tx: PoolConnection): Promise<void> => {
      await increment(tx)
      await tx.execute('update counter set n = n + 1 where id = 2')
    }
    const refused = await caught(locks.transaction(work, { lockTimeoutMs: 1000 }))
    await other.rollback()
    expect(refused).toBeInstanceOf(LockTimeoutError)
    expect(refused).toMatchObject({ cause: { errno: 1205 } })
    expect(await seen()).toBe(before)
  })

  test.each(['query', 'execute', 'prepare', 'batch'] as const)(
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
    query: (tx: PoolConnection, text: string): Promise<unknown> => tx.query(text),
    execute: (tx: PoolConnection, text: string): Promise<unknown> => tx.execute(text),
    prepare: async (tx: PoolConnection, text: string): Promise<unknown> =>
      (await tx.prepare(text)).execute([]),
    batch: (tx: PoolConnection, text: string): Promise<unknown> =>
      tx.batch(`${text} or id = ?`, [[0], [0], [0]]),
  }

  /** Rejects with the error of a deadlock that the work lost. */
  async function loseDeadlock(tx: PoolConnection, way: keyof typeof ways): Promise<void> {
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
          id = tx.threadId ?? 0
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
      expect(tx.serverVersion()).toMatch(/\d+\.\d+/)
      expect(tx.escape('it')).toBe("'it'")
      expect(await ask(tx, 'connection_id()')).toBe(tx.threadId)
      expect(tx.on('end', () => {})).toBe(tx)
    })
  })

  test.each([
    'beginTransaction',
    'commit',
    'rollback',
    'reset',
    'changeUser',
    'destroy',
    'importFile',
  ] as const)('%s must not be called by the work, and the transaction goes on', async (name) => {
    const before = Number(await seen())
    await locks.transaction(async (tx) => {
      await increment(tx)
      const call = (tx[name] as () => unknown).bind(tx)
      expect(await caught((async () => call())())).toMatchObject({ name: 'LockUsageError', field: 'tx' })
      expect(await seen()).toBe(before)
    })
    expect(await seen()).toBe(before + 1)
  })

  test('a COMMIT among several statements of one text is refused', async () => {
    const before = await seen()
    const text = 'update counter set n = n + 1 where id = 1; commit; select 1'
    await expect(locks.transaction((tx) => tx.query(text))).rejects.toMatchObject({ field: 'tx' })
    expect(await seen()).toBe(before)
  })

  test('statements that the driver would send at once are not stored behind one that ended the transaction', async () => {
    const before = Number(await seen())
    const work = async (tx: PoolConnection): Promise<void> => {
      const lost = loseDeadlock(tx, 'query')
      await Promise.allSettled([increment(tx), lost, lost.catch(() => increment(tx))])
    }
    const ended = await caught(locks.transaction(work, { attempts: 1 }))
    expect(classifyError(ended)).toMatchObject({ kind: 'deadlock', retryable: true })
    expect(await seen()).toBe(before)
  })

  test('a batch that nobody waits for is stored as a whole', async () => {
    await locks.transaction(async (tx) => {
      void tx.batch('insert into counter values (?, 0)', [[61], [62], [63]])
    })
    expect(await other.run(sql('select id from counter where id > 60 order by id'))).toHaveLength(3)
  })

  test('a batch that fails and that nobody waits for fails the transaction', async () => {
    const work = async (tx: PoolConnection): Promise<void> => {
      await increment(tx)
      void caught(tx.batch('insert into counter values (?, 0)', [[71], [1], [72]]))
    }
    const before = await seen()
    expect(await caught(locks.transaction(work))).toMatchObject({ name: 'LockUsageError' })
    expect(await seen()).toBe(before)
    expect(await other.run(sql('select id from counter where id > 70'))).toEqual([])
  })

  test('a stream that the work leaves in the middle of it holds nothing up', async () => {
    await locks.transaction(async (tx) => {
      const many = 'select repeat(a.id, 5000) as text from counter a, counter b, counter c'
      for await (const row of tx.queryStream(many)) {
        expect(row).toBeDefined()
        break
      }
      await increment(tx)
    })
  })

  test('what was prepared and what was taken from tx is refused after the end', async () => {
    const kept = await locks.transaction(async (tx) => {
      const prepared = await tx.prepare('select 1')
      await prepared.execute()
      return { tx, prepared, query: tx.query.bind(tx) }
    })
    const ended = { field: 'tx', message: expect.stringContaining('has ended') as string }
    await expect(kept.tx.query('select 1')).rejects.toMatchObject(ended)
    await expect(kept.query('select 1')).rejects.toMatchObject(ended)
    await expect(kept.prepared.execute()).rejects.toMatchObject(ended)
    expect(() => kept.tx.queryStream('select 1')).toThrow('has ended')
  })

  test('a file that was imported outside of a transaction does not blind the next one', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'holdfast-')), 'one.sql')
    await writeFile(file, 'update counter set n = n + 1 where id = 5;')
    await pool.importFile({ file })
    await rm(dirname(file), { recursive: true })
    await expect(locks.transaction((tx) => tx.query('commit'))).rejects.toMatchObject({ field: 'tx' })
  })

  test('a pool that answers by callbacks is refused', async () => {
    const callbacks = createLocks({ getConnection: () => undefined } as never)
    await expect(callbacks.transaction(async () => {})).rejects.toMatchObject({ field: 'pool' })
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
