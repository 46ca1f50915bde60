import { Kysely, PostgresDialect, sql } from 'kysely'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { CommitOutcomeUnknownError } from '../../src/core/errors.ts'
import { createLocks as createKyselyLocks } from '../../src/entries/kysely.ts'
import { createLocks as createMysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as createPgLocks } from '../../src/entries/pg.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { startCuttingProxy, type Cut, type CuttingProxy } from './cutting-proxy.ts'

/** Adds a journal row in a transaction through the proxy. */
interface Writer {
  readonly write: (options?: TransactionOptions) => Promise<void>
  readonly end: () => Promise<void>
}

const insert = 'INSERT INTO journal VALUES (1)'

const writers: Readonly<Record<string, (url: string) => Writer>> = {
  postgres: pgWriter,
  mysql: mysqlWriter,
  mariadb: mysqlWriter,
}

function pgWriter(url: string, config: pg.PoolConfig = {}): Writer {
  const pool = new pg.Pool({ connectionString: url, max: 2, ...config })
  pool.on('error', () => {})
  const locks = createPgLocks(pool)
  return {
    write: (options) => locks.transaction(async (tx) => void (await tx.query(insert)), options),
    end: () => pool.end(),
  }
}

function kyselyWriter(url: string): Writer {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) }),
  })
  const locks = createKyselyLocks(db, { dialect: 'postgres' })
  return {
    write: (options) => locks.transaction(async (tx) => void (await sql.raw(insert).execute(tx)), options),
    end: () => db.destroy(),
  }
}

/** Of an application that wants every number of PostgreSQL's as a number. */
const numbers: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === xid8 ? BigInt : (pg.types.getTypeParser(type, format ?? 'text') as unknown),
}
const xid8 = 5069

function mysqlWriter(url: string): Writer {
  const pool = mysql.createPool({ uri: url, connectionLimit: 2 })
  const locks = createMysqlLocks(pool)
  return {
    write: (options) => locks.transaction(async (tx) => void (await tx.query(insert)), options),
    end: () => pool.end(),
  }
}

describeEngines(specs, { only: Object.keys(writers) })

function specs(context: EngineContext): void {
  let proxy: CuttingProxy
  let writer: Writer

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const text of ['DROP TABLE IF EXISTS journal', 'CREATE TABLE journal (n INTEGER)']) {
      await session.run({ sql: text, params: [] })
    }
    await session.close()
    proxy = await startCuttingProxy(context.engine.server.url)
    writer = writers[context.name]?.(proxy.url) ?? expect.unreachable('an engine without a writer')
  })

  afterEach(async () => {
    await writer.end()
    await proxy.close()
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })

  const journal = async (): Promise<number> => {
    const session = await context.engine.open()
    const rows = await session.run({ sql: 'SELECT n FROM journal', params: [] })
    await session.close()
    return rows.length
  }

  const lose = async (when: Cut, options?: TransactionOptions): Promise<unknown> => {
    await writer.write().then(() => undefined) // the server's version is known from here on
    void proxy.cutAt('COMMIT', when)
    return writer.write(options).then(
      () => 'committed',
      (error: unknown) => error,
    )
  }

  test('a connection that is lost before COMMIT was sent is another attempt', async () => {
    void proxy.cutAt(insert, 'before')
    await writer.write()
    expect(await journal()).toBe(1)
  })

  test('one that could not be had is named by the error that says to run it again', async () => {
    await proxy.close()
    await expect(writer.write({ attempts: 2 })).rejects.toMatchObject({
      name: 'RetryableTransactionError',
      kind: 'connection-lost',
      message: expect.stringContaining('(ECONNREFUSED): run it again'),
      cause: { code: 'ECONNREFUSED' },
    })
  })

  if (context.name === 'postgres') {
    test.each(['before', 'after'] as const)(
      'the server is asked when the answer to COMMIT is lost (%s)',
      async (when) => {
        expect(await lose(when)).toBe('committed')
        expect(await journal()).toBe(2)
      },
    )

    test.each(['before', 'after'] as const)(
      'the server is asked through Kysely as well, which drops the rows of a text of several statements (%s)',
      async (when) => {
        await writer.end()
        writer = kyselyWriter(proxy.url)
        expect(await lose(when)).toBe('committed')
        expect(await lose(when, { lockTimeoutMs: 60_000 })).toBe('committed')
        expect(await journal()).toBe(4)
      },
    )

    test("whatever the driver makes of the transaction's number", async () => {
      await writer.end()
      writer = pgWriter(proxy.url, { types: numbers })
      expect(await lose('after')).toBe('committed')
      expect(await journal()).toBe(2)
    })
  } else {
    test.each(['before', 'after'] as const)('nothing is repeated when nobody can tell (%s)', async (when) => {
      expect(await lose(when)).toBeInstanceOf(CommitOutcomeUnknownError)
      await until(async () => (await journal()) === (when === 'after' ? 2 : 1), 'the true outcome')
    })

    test.each([
      [
        'has lost its connection too',
        Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
      ],
      [
        'has lost a deadlock',
        Object.assign(new Error('deadlock'), { code: 'ER_LOCK_DEADLOCK', errno: 1213 }),
      ],
      ['has failed for a reason of its own', new Error('no such table')],
    ])('a caller who %s knows nothing, and nothing is repeated', async (_, failure) => {
      const verifyCommit = (): Promise<boolean> => Promise.reject(failure)
      const error = await lose('after', { verifyCommit })
      expect(error).toBeInstanceOf(CommitOutcomeUnknownError)
      expect(error).toMatchObject({ message: expect.stringContaining(failure.message) })
      expect(await journal()).toBe(2)
    })

    test('what the caller finds out decides: it is stored', async () => {
      expect(await lose('after', { verifyCommit: async () => (await journal()) === 2 })).toBe('committed')
      expect(await journal()).toBe(2)
    })

    test('what the caller finds out decides: it is not stored, and is run again', async () => {
      expect(await lose('before', { verifyCommit: async () => (await journal()) === 2 })).toBe('committed')
      expect(await journal()).toBe(2)
    })
  }
}
