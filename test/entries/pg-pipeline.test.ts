import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import { deferred } from '../../src/conformance/deferred.ts'
import { createLocks, type Locks } from '../../src/entries/pg.ts'
import type { LockInTransaction } from '../../src/locks/named/held-lock.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'

describe('a beginning that travels with the first statement', () => {
  for (const isPipelined of [false, true]) {
    describe(isPipelined ? 'on a pool that pipelines' : 'on a pool that does not', () => {
      describeEngines((context) => specs(context, isPipelined), { only: ['postgres'] })
    })
  }
})

function specs(context: EngineContext, isPipelined: boolean): void {
  let pool: pg.Pool
  let other: pg.Pool
  let locks: Locks<pg.PoolClient, 'postgres'>
  beforeAll(async () => {
    const connectionString = context.engine.server.url
    pool = new pg.Pool({ connectionString, max: 2, pipeline: isPipelined })
    other = new pg.Pool({ connectionString, max: 2 })
    for (const each of [pool, other]) each.on('error', () => {})
    locks = createLocks(pool, { pipeline: true })
    await other.query('create table note (id int primary key)')
  })
  beforeEach(() => other.query('truncate note'))
  afterAll(async () => {
    await pool.end()
    await other.end()
  })

  const stored = async (): Promise<readonly number[]> =>
    (await other.query<{ id: number }>('select id from note order by id')).rows.map(({ id }) => id)
  const pidOf = (tx: pg.PoolClient): string => String((tx as unknown as { processID: number }).processID)
  const isWaiting = (pid: string): Promise<boolean> =>
    context.engine.isWaiting({ id: pid } as Parameters<typeof context.engine.isWaiting>[0])
  /** Holds the lock until it is told to end. */
  const holding = async (key: string): Promise<() => Promise<void>> => {
    const held = deferred<void>()
    const end = deferred<void>()
    const holder = createLocks(other).withLock(key, async () => {
      held.resolve()
      await end.promise
    })
    await held.promise
    return async () => {
      end.resolve()
      await holder
    }
  }
  const nothingIsLeft = async (): Promise<void> => {
    for (const client of [await pool.connect(), await pool.connect()]) {
      const { rows } = await client.query('select now() = statement_timestamp() as alone')
      expect(rows).toEqual([{ alone: true }])
      client.release()
    }
    expect(await context.engine.leftovers()).toEqual([])
  }

  test.each([
    ['text alone', (tx: pg.PoolClient) => tx.query('insert into note values (1)')],
    ['values', (tx: pg.PoolClient) => tx.query('insert into note values ($1)', [1])],
    ['a semicolon at the end', (tx: pg.PoolClient) => tx.query('insert into note values (1); ')],
    ['several statements', (tx: pg.PoolClient) => tx.query('select 1; insert into note values (1)')],
    [
      'a name',
      (tx: pg.PoolClient) => tx.query({ name: 'n', text: 'insert into note values ($1)', values: [1] }),
    ],
    [
      'several at once',
      (tx: pg.PoolClient) =>
        Promise.all([tx.query('select 1'), tx.query('insert into note values ($1)', [1])]),
    ],
    [
      'a callback',
      (tx: pg.PoolClient) =>
        new Promise<void>((resolve, reject) => {
          tx.query('insert into note values (1)', (error: Error | undefined) =>
            error ? reject(error) : resolve(),
          )
        }),
    ],
    [
      'a statement that is late',
      async (tx: pg.PoolClient) => {
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        await tx.query('insert into note values (1)')
      },
    ],
  ])('work whose first statement has %s is stored once, under the lock', async (_, work) => {
    await locks.withLock('ways', async (tx) => {
      await work(tx)
      const { rows } = await tx.query(
        "select count(*)::int as n from pg_locks where pid = pg_backend_pid() and locktype = 'advisory' and granted",
      )
      expect(rows).toEqual([{ n: 1 }])
      expect(await stored()).toEqual([]) // not committed
    })
    expect(await stored()).toEqual([1])
    await nothingIsLeft()
  })

  test('the answer to the first statement is its own, of whatever shape it was asked for', async () => {
    await locks.withLock('answers', async (tx) => {
      const { rows, command, rowCount } = await tx.query({
        text: 'select $1::int as a, 2 as b',
        values: [1],
        rowMode: 'array',
      })
      expect({ rows, command, rowCount }).toEqual({ rows: [[1, 2]], command: 'SELECT', rowCount: 1 })
    })
  })

  test('work without any statement holds the lock all the same before it is said to be done', async () => {
    const end = await holding('idle work')
    let isDone = false
    const working = locks.withLock('idle work', async () => 'nothing').finally(() => (isDone = true))
    await until(
      async () => (await context.engine.leftovers()).some((line) => line.includes('wants')),
      'the wait',
    )
    expect(isDone).toBe(false)
    await end()
    expect(await working).toBe('nothing')
    await nothingIsLeft()
  })

  test('the first statement sees what the last holder stored', async () => {
    const end = await holding('order')
    let seen: unknown
    const reading = locks.withLock('order', async (tx, held) => {
      seen = (await tx.query<{ id: number }>('select id from note')).rows
      return held.receipt.waitedMs
    })
    await until(
      async () => (await context.engine.leftovers()).some((line) => line.includes('wants')),
      'the wait',
    )
    await other.query('insert into note values (7)')
    await end()
    expect(await reading).toBeGreaterThan(0)
    expect(seen).toEqual([{ id: 7 }])
  })

  test.each([
    [
      'lets the error through',
      async (tx: pg.PoolClient) => void (await tx.query('insert into note values (1)')),
    ],
    [
      'throws another',
      async (tx: pg.PoolClient) => {
        await tx.query('insert into note values (1)').catch(() => {})
        throw new Error('of the work')
      },
    ],
    [
      'goes on as if nothing had been',
      async (tx: pg.PoolClient) => {
        await tx.query('insert into note values (1)').catch(() => {})
        await tx.query('insert into note values (2)').catch(() => {})
      },
    ],
  ])(
    'a lock that is not to be had is a LockTimeoutError, and nothing is stored, when the work %s',
    async (_, work) => {
      const end = await holding('taken')
      let given: LockInTransaction | undefined
      const refused = locks.withLock(
        'taken',
        async (tx, held) => {
          given = held
          await work(tx)
        },
        { wait: { timeoutMs: 60 } },
      )
      await expect(refused).rejects.toBeInstanceOf(LockTimeoutError)
      expect(given?.signal.aborted).toBe(true)
      await end()
      expect(await stored()).toEqual([])
      await nothingIsLeft()
    },
  )

  test('a lock that is only tried is tried before the work, in one round trip with the beginning', async () => {
    const end = await holding('tried')
    let isCalled = false
    const trying = (wait: 'nowait'): Promise<void> =>
      locks.withLock('tried', async () => void (isCalled = true), { wait })
    await expect(trying('nowait')).rejects.toBeInstanceOf(LockNotAvailableError)
    expect(isCalled).toBe(false)
    await end()
    expect(await locks.tryLock('tried', async () => 'mine')).toEqual({ acquired: true, value: 'mine' })
    await nothingIsLeft()
  })

  test('aborting ends the wait, and nothing is held or stored', async () => {
    const end = await holding('aborted')
    const abort = new AbortController()
    const pid = deferred<string>()
    const working = locks.withLock(
      'aborted',
      async (tx) => {
        pid.resolve(pidOf(tx))
        await tx.query('insert into note values (1)')
      },
      { signal: abort.signal },
    )
    const waiter = await pid.promise
    await until(() => isWaiting(waiter), 'the wait')
    abort.abort(new Error('enough'))
    await expect(working).rejects.toThrow('enough')
    await end()
    expect(await stored()).toEqual([])
    await nothingIsLeft()
  })

  test('work that fails while its lock is waited for is over at once', async () => {
    const end = await holding('given up')
    const working = locks.withLock('given up', async (tx) => {
      const first = tx.query('insert into note values (1)')
      first.catch(() => {})
      await until(() => isWaiting(pidOf(tx)), 'the wait')
      throw new Error('of the work')
    })
    await expect(working).rejects.toThrow('of the work')
    await end()
    expect(await stored()).toEqual([])
    await nothingIsLeft()
  })

  test('work that fails before it sends anything has begun nothing', async () => {
    const working = locks.withLock('unsent', async () => {
      throw new Error('of the work')
    })
    await expect(working).rejects.toThrow('of the work')
    await nothingIsLeft()
  })

  test('a connection that breaks while the lock is waited for is replaced, and the work is run again', async () => {
    const end = await holding('broken')
    const pids: string[] = []
    const working = locks.withLock('broken', async (tx) => {
      pids.push(pidOf(tx))
      await tx.query('insert into note values (1)')
    })
    await until(async () => pids.length > 0 && (await isWaiting(pids[0] ?? '')), 'the wait')
    await other.query('select pg_terminate_backend($1)', [Number(pids[0])])
    await until(async () => pids.length > 1, 'the second attempt')
    await end()
    await working
    expect(await stored()).toEqual([1])
    await nothingIsLeft()
  })

  test('an error of the first statement is its own, and the transaction is rolled back', async () => {
    await other.query('insert into note values (1)')
    const failing = locks.withLock('twice', (tx) => tx.query('insert into note values (1)'))
    await expect(failing).rejects.toMatchObject({ code: '23505' })
    const caught = locks.withLock('twice', async (tx) => {
      await tx.query('insert into note values (1)').catch(() => {})
    })
    await expect(caught).rejects.toMatchObject({ cause: { code: '23505' } })
    await nothingIsLeft()
  })

  test('two who wait for each other are told so, and the one who lost runs again', async () => {
    let attempts = 0
    const met = deferred<void>()
    let here = 0
    const both = (first: string, second: string): Promise<void> =>
      locks.withLock(first, async (tx) => {
        attempts += 1
        await tx.query('select 1')
        here += 1
        if (here === 2) met.resolve()
        if (attempts <= 2) await met.promise
        await locks.lock(tx, second)
      })
    await Promise.all([both('left', 'right'), both('right', 'left')])
    expect(attempts).toBeGreaterThan(2)
    await nothingIsLeft()
  })
}
