import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { createLocks as createMysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as createPgLocks } from '../../src/entries/pg.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

/** Work that writes first, and then has to wait for a row. */
interface Worker {
  readonly work: (options: TransactionOptions) => Promise<void>
  readonly end: () => Promise<void>
}

const write = 'INSERT INTO journal VALUES (1)'
const row = { table: 'item', key: { id: 1 } }

const workers: Readonly<Record<string, (url: string) => Worker>> = {
  postgres: (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    const locks = createPgLocks(pool)
    const work = async (tx: pg.PoolClient): Promise<void> => {
      await tx.query(write)
      await locks.rows(tx, row)
    }
    return { work: (options) => locks.transaction(work, options), end: () => pool.end() }
  },
  mysql: mysqlWorker,
  mariadb: mysqlWorker,
}

function mysqlWorker(url: string): Worker {
  const pool = mysql.createPool({ uri: url, connectionLimit: 1 })
  const locks = createMysqlLocks(pool)
  const work = async (tx: mysql.PoolConnection): Promise<void> => {
    await tx.query(write)
    await locks.rows(tx, row)
  }
  return { work: (options) => locks.transaction(work, options), end: () => pool.end() }
}

describeEngines(specs, { only: Object.keys(workers) })

function specs(context: EngineContext): void {
  let holder: EngineSession
  let worker: Worker
  const run = (text: string): ReturnType<EngineSession['run']> => holder.run({ sql: text, params: [] })

  beforeEach(async () => {
    holder = await context.engine.open()
    for (const table of ['journal', 'item']) await run(`DROP TABLE IF EXISTS ${table}`)
    await run('CREATE TABLE journal (n INTEGER)')
    await run('CREATE TABLE item (id INTEGER PRIMARY KEY)')
    await run('INSERT INTO item VALUES (1)')
    await holder.begin()
    await run('SELECT * FROM item WHERE id = 1 FOR UPDATE')
    worker =
      workers[context.name]?.(context.engine.server.url) ?? expect.unreachable('an engine without a worker')
  })
  afterEach(async () => {
    await worker.end()
    await holder.close()
  })

  test('a lock timeout is another attempt where the caller says so, and the half that was done before it is undone', async () => {
    const kinds: string[] = []
    await worker.work({
      lockTimeoutMs: 1000,
      alsoRetry: ['lock-timeout'],
      onRetry: async ({ kind }) => {
        kinds.push(kind)
        await holder.rollback()
      },
    })
    expect(kinds).toEqual(['lock-timeout'])
    expect(await run('SELECT n FROM journal')).toHaveLength(1)
  })

  test('a lock timeout ends the call where nothing was said, with nothing stored', async () => {
    await expect(worker.work({ lockTimeoutMs: 1000 })).rejects.toMatchObject({ name: 'LockTimeoutError' })
    await holder.rollback()
    expect(await run('SELECT n FROM journal')).toHaveLength(0)
  })
}
