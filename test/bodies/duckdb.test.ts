import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { LockUsageError, RetryableTransactionError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/duckdb.ts'
import type { Locks } from '../../src/locks.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'

describeEngines(specs, { only: ['duckdb'] })

/** Enough to meet by chance what only some orders of the statements show. */
const rounds = 40
const endless = 'select count(*) from range(100000000000)'

function specs(context: EngineContext): void {
  let instance: DuckDBInstance
  let locks: Locks<DuckDBConnection, 'duckdb'>
  let outside: DuckDBConnection
  beforeAll(async () => {
    instance = await (await loadDuckdb()).DuckDBInstance.fromCache(context.engine.server.url)
    locks = createLocks(instance)
  })
  beforeEach(async () => {
    outside = await instance.connect()
    await outside.run('create table item (id integer primary key, n integer)')
    await outside.run('insert into item values (0, 0)')
  })
  afterEach(async () => {
    await outside.run('drop table item')
    outside.disconnectSync()
  })
  const add = (tx: DuckDBConnection, id: number): Promise<unknown> =>
    tx.run('insert into item values ($1, 0)', [id])
  const stored = async (): Promise<unknown[]> =>
    (await outside.runAndReadAll('select id from item order by id')).getColumnsJS()[0] ?? []
  const meanwhile = (): Promise<unknown> => outside.run('update item set n = n + 1 where id = 0')

  test("a conflict of another connection is the work's own error: it is run once", async () => {
    const thrown: unknown[] = []
    const work = locks.transaction(async (tx) => {
      await tx.run('update item set n = n + 1 where id = 0')
      thrown.push(await caught(meanwhile()))
      throw thrown[0]
    })
    expect(await caught(work)).toBe(thrown[0])
    expect(thrown).toHaveLength(1)
    expect(String(thrown[0])).toContain('Conflict')
  })

  test('of statements that run at the same time and of which one fails, none is stored', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const work = (tx: DuckDBConnection): Promise<unknown> =>
        Promise.all([1, 2, 3, 0, 4, 5, 6].map((id) => add(tx, id)))
      await expect(locks.transaction(work)).rejects.toThrow()
      expect(await stored()).toEqual([0])
    }
  })

  test('of a statement that nobody waited for, the failure fails the transaction', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const work = async (tx: DuckDBConnection): Promise<void> => {
        for (const id of [1, 2, 0, 3]) void add(tx, id).catch(() => {})
      }
      const error = await caught(locks.transaction(work))
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({ field: 'transaction' })
      expect(String((error as Error).cause)).toContain('Constraint Error')
      expect(await stored()).toEqual([0])
    }
  })

  test('a statement that nobody waited for is reported once, also if it would not end the transaction', async () => {
    const work = async (tx: DuckDBConnection): Promise<void> => {
      await add(tx, 1)
      void tx.run('insert into nowhere values (1)')
    }
    const error = await caught(locks.transaction(work))
    expect(error).toMatchObject({ field: 'transaction' })
    expect(String((error as Error).cause)).toContain('Catalog Error')
    expect(await stored()).toEqual([0])
  })

  test('statements that nobody waited for are stored when all is well', async () => {
    await locks.transaction(async (tx) => {
      for (const id of [1, 2, 3]) void add(tx, id)
    })
    expect(await stored()).toEqual([0, 1, 2, 3])
  })

  test('workers whose statements run at the same time store each attempt whole or not at all', async () => {
    await outside.run('create or replace table log (worker integer)')
    const worker = async (number: number): Promise<number> => {
      let done = 0
      for (let turn = 0; turn < 10; turn += 1) {
        const work = (tx: DuckDBConnection): Promise<unknown> =>
          Promise.all([
            tx.run('insert into log values ($1)', [number]),
            tx.run('update item set n = n + 1 where id = 0'),
            tx.run('insert into log values ($1)', [number]),
          ])
        await locks.transaction(work, { attempts: 1000, backoff: { capMs: 20 } })
        done += 1
      }
      return done
    }
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(worker))
    const read = await outside.runAndReadAll('select (select count(*)::int from log) as logs, n from item')
    expect(read.getRowObjectsJS()).toEqual([{ logs: 160, n: 80 }])
    await outside.run('drop table log')
  })

  test('a conflict among statements that run at the same time is the one retryable class', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const work = async (tx: DuckDBConnection): Promise<void> => {
        await add(tx, 1)
        await meanwhile()
        const touch = 'update item set n = n + 1 where id = 0'
        await Promise.all([tx.run(touch), add(tx, 2), add(tx, 3), tx.run(touch), add(tx, 4)])
      }
      const error = await caught(locks.transaction(work, { attempts: 1 }))
      expect(error).toBeInstanceOf(RetryableTransactionError)
      expect(error).toMatchObject({ kind: 'write-conflict' })
    }
    expect(await stored()).toEqual([0])
  })

  test('the error that ended the transaction is blamed, and not one that was caught before it', async () => {
    let attempts = 0
    await locks.transaction(async (tx) => {
      attempts += 1
      await caught(tx.run('insert into nowhere values (1)'))
      await add(tx, attempts)
      if (attempts > 1) return
      await meanwhile()
      await caught(tx.run('update item set n = n + 1 where id = 0'))
      await caught(tx.run('select misspelt'))
    })
    expect(attempts).toBe(2)
    expect(await stored()).toEqual([0, 2])
  })

  test.each([
    'COMMIT',
    'end',
    'ROLLBACK',
    'abort',
    'BEGIN',
    'start transaction',
    'select 1; commit; begin',
    '-- mine\rcommit',
    'select 1; /* /* */ */ commit; begin',
    'create table trigger (x int); commit; begin',
  ])('a work that sends %s is refused', async (sql) => {
    const work = async (tx: DuckDBConnection): Promise<void> => {
      await add(tx, 1)
      expect(await caught(tx.prepare(sql))).toBeInstanceOf(LockUsageError)
      expect(await caught(tx.extractStatements(sql))).toBeInstanceOf(LockUsageError)
      await tx.run(sql)
    }
    expect(await caught(locks.withLock('name', work))).toMatchObject({ field: 'tx' })
    expect(await stored()).toEqual([0])
  })

  test('tx and all that was derived from it are refused after the end', async () => {
    const kept = await locks.transaction(async (tx) => {
      const appender = await tx.createAppender('item')
      appender.appendInteger(9)
      appender.appendInteger(0)
      appender.endRow()
      return {
        tx,
        appender,
        prepared: await tx.prepare('insert into item values (1, 0)'),
        extracted: await tx.extractStatements('insert into item values (2, 0)'),
        started: await tx.start('from item'),
        stream: await tx.stream('from range(10000)'),
        result: await tx.runAndReadAll('from item'),
      }
    })
    const late = [
      () => add(kept.tx, 4),
      () => kept.prepared.run(),
      () => kept.extracted.prepare(0),
      () => kept.started.runAllTasks(),
      () => kept.stream.fetchChunk(),
      async () => kept.stream[Symbol.asyncIterator]().next(),
    ]
    // a rejection, and no error out of the call: nobody may be there to catch that
    for (const call of late) await expect(call()).rejects.toThrow('the transaction has ended')
    for (const call of [
      () => kept.prepared.start(),
      () => kept.started.runTask(),
      () => kept.appender.flushSync(),
    ])
      expect(call).toThrow('the transaction has ended')
    kept.prepared.destroySync()
    expect(kept.result.getRowObjectsJS()).toEqual([{ id: 0, n: 0 }])
    expect(await stored()).toEqual([0])
  })

  test.each<[string, (tx: DuckDBConnection) => Promise<unknown>]>([
    ['started', async (tx) => (await tx.start(endless)).runAllTasks()],
    ['extracted', async (tx) => (await (await tx.extractStatements(endless)).prepare(0)).run()],
    ['prepared and started', async (tx) => (await tx.prepare(endless)).start().getResult()],
  ])('an abort ends a statement that was %s', async (_, start) => {
    const controller = new AbortController()
    const began = gate()
    let running: Promise<unknown> | undefined
    const work = locks.transaction(
      async (tx) => {
        await add(tx, 1)
        running = caught(start(tx))
        began.open()
        await running
      },
      { signal: controller.signal },
    )
    await began.opened
    controller.abort(new Error('enough'))
    await expect(work).rejects.toThrow('enough')
    expect(await running).toBeInstanceOf(Error)
    expect(await stored()).toEqual([0])
  })

  test('a work that throws does not wait for what it has left running', async () => {
    let running: Promise<unknown> | undefined
    const work = async (tx: DuckDBConnection): Promise<never> => {
      running = caught(tx.run(endless))
      await Promise.resolve()
      throw new Error('enough')
    }
    await expect(locks.transaction(work)).rejects.toThrow('enough')
    expect(await running).toBeInstanceOf(Error)
  })

  test('disconnecting under a running statement is refused, and the transaction ends', async () => {
    const work = async (tx: DuckDBConnection): Promise<void> => {
      void caught(tx.run(endless))
      tx.disconnectSync()
    }
    expect(await caught(locks.transaction(work))).toMatchObject({ field: 'tx' })
    await locks.transaction((tx) => add(tx, 1))
    expect(await stored()).toEqual([0, 1])
  })
}
