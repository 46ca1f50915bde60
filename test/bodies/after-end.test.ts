import mysql from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as mysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { pgPool } from '../adapters/subject.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { describeBodies, note, onKysely, onMariadb, onMysql2, onPg, type Stage } from './stage.ts'

describe('a tx whose transaction has ended', () => {
  describeBodies(specs, { only: [onPg, onMysql2, onMariadb, onKysely] })
  describeEngines(pgSpecs, { only: ['postgres'] })
  describeEngines(mysqlSpecs, { only: ['mysql', 'mariadb'] })
})

function specs({ transaction, stored }: Stage): void {
  test.each(['is committed', 'is rolled back'])('is refused once it %s', async (how) => {
    let late: (() => Promise<unknown>) | undefined
    await caught(
      transaction(async (send) => {
        late = () => send(note(1))
        await send('select 1')
        if (how !== 'is committed') throw new Error('of the work')
      }),
    )
    expect(await caught(late?.() ?? Promise.resolve())).toBeInstanceOf(LockUsageError)
    // and while somebody else has the connection
    await transaction(async (send) => {
      await send('select 1')
      expect(await caught(late?.() ?? Promise.resolve())).toBeInstanceOf(LockUsageError)
    })
    expect(await stored()).toEqual([])
  })
}

function pgSpecs(context: EngineContext): void {
  test('is refused to callbacks, and to queries that were made elsewhere', async () => {
    const pool = pgPool(context.engine.server.url)
    const tx = await pgLocks(pool).transaction(async (given) => given)
    const told = new Promise((resolve) => {
      tx.query('select 1', (error: unknown) => resolve(error))
    })
    expect(await told).toBeInstanceOf(LockUsageError)
    const query = new pg.Query('select 1')
    const heard = new Promise((resolve) => void query.on('error', resolve))
    tx.query(query)
    expect(await heard).toBeInstanceOf(LockUsageError)
    await pool.end()
  })

  test('is refused to what its methods gave, and to the connection beneath', async () => {
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
    const locks = pgLocks(pool)
    const [chained, beneath] = await locks.transaction(
      async (tx) => [tx.once('notice', () => {}), (tx as unknown as Beneath).connection] as const,
    )
    await locks.transaction(async (next) => {
      await next.query('select 1')
      expect(await caught(chained.query('select 1'))).toBeInstanceOf(LockUsageError)
      expect(() => beneath.query('select 1')).toThrow(LockUsageError)
    })
    await pool.end()
  })
}

function mysqlSpecs(context: EngineContext): void {
  test('is refused to what was prepared on it, and to the connection beneath', async () => {
    const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
    const locks = mysqlLocks(pool)
    const [tx, prepared] = await locks.transaction(
      async (given) => [given, await given.prepare('select 1')] as const,
    )
    await locks.transaction(async (next) => {
      await next.query('select 1')
      expect(await caught(prepared.execute([]))).toBeInstanceOf(LockUsageError)
      expect(await caught(tx.execute('select 1'))).toBeInstanceOf(LockUsageError)
      expect(() => (tx as unknown as Beneath).connection.query('select 1')).toThrow(LockUsageError)
    })
    await pool.end()
  })
}

interface Beneath {
  readonly connection: { query(text: string): unknown }
}
