import Database from 'better-sqlite3'
import makeKnex, { type Knex } from 'knex'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createLocks, type KnexDialectName, type KnexLocks } from '../../src/entries/knex.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { knex as orm, openKnex } from './knex.ts'
import { accounts } from './stage.ts'

describeEngines(specs, { only: orm.engines })

/** What only Knex has. */
function specs(context: EngineContext): void {
  let knex: Knex
  let locks: KnexLocks<Knex.Transaction, KnexDialectName>

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
    knex = openKnex(context.name, context.engine.server.url, 4)
    locks = createLocks(knex)
  })

  afterEach(async () => {
    await knex.destroy()
    await until(async () => (await context.engine.leftovers()).length === 0, `${context.name} holds nothing`)
  })

  test.each(['commit', 'rollback'] as const)(
    '%s of the transaction is refused, and nothing is stored',
    async (end) => {
      const ending = locks.transaction(async (tx) => {
        await tx('account').insert({ id: 3, balance_now: 1 })
        await tx[end]()
      })
      await expect(ending).rejects.toThrow(`${end} must not be called by the work`)
      expect(await knex('account').where({ id: 3 })).toEqual([])
    },
  )

  test('whoever asks the transaction is told that it has ended', async () => {
    const tx = await locks.transaction(async (open) => {
      expect(open.isCompleted()).toBe(false)
      return Object.assign(() => open, {})
    })
    expect(tx().isCompleted()).toBe(true)
    await tx().executionPromise
  })

  test('whoever waits for its COMMIT is told when there is none', async () => {
    let ended: Promise<unknown> | undefined
    const failing = locks.transaction(async (tx) => {
      ended = tx.executionPromise
      throw new Error('mine')
    })
    await expect(failing).rejects.toThrow('mine')
    await expect(ended).rejects.toThrow('the transaction was not committed')
  })

  test('nested work ends with its function, and has the terms of the outer one', async () => {
    const said = await locks.transaction(async (tx) => [
      await caught(tx.transaction(async (inner) => inner.commit())),
      await caught(tx.transaction(async (inner) => inner.rollback())),
      await caught(tx.transaction(async () => {}, { isolationLevel: 'serializable' })),
      await caught(tx.transaction(async () => {}, { readOnly: true })),
    ])
    expect(said.map(String)).toEqual([
      expect.stringContaining('commit must not be called by the work'),
      expect.stringContaining('rollback must not be called by the work'),
      expect.stringContaining('a nested transaction has the isolation level'),
      expect.stringContaining('a nested transaction has the isolation level'),
    ])
  })

  test('nested work that nobody would end is refused', async () => {
    const said = await locks.transaction(async (tx) => [
      await caught(tx.transaction()),
      await caught((async () => tx.transactionProvider())()),
      await caught(tx.transaction(() => {})),
    ])
    expect(said.map(String)).toEqual([
      expect.stringContaining('call transaction with one'),
      expect.stringContaining('call transaction with one'),
      expect.stringContaining('needs a function that gives a promise'),
    ])
  })

  test('a dialect that Knex is not connected to is refused', () => {
    const dialect = context.name === 'postgres' ? 'mysql' : 'postgres'
    expect(() => createLocks(knex, { dialect })).toThrow(`${dialect} is not what this is connected to`)
  })

  test('a query that is no list of rows is refused', async () => {
    const said = await locks.transaction(async (tx) => [
      await caught(locks.rows(tx, tx('account').first() as never)),
      await caught(locks.rows(tx, tx.raw('select * from account') as never)),
    ])
    for (const error of said) expect(error).toMatchObject({ name: 'LockUsageError', field: 'query' })
  })

  test('a query of the instance runs in the transaction when it says so', async () => {
    await locks.transaction(async (tx) => {
      expect(await locks.rows(tx, knex('account').where({ id: 1 }).transacting(tx))).toHaveLength(1)
    })
  })

  test.runIf(context.name === 'sqlite')(
    'forUpdate, which Knex leaves out here, is true all the same',
    async () => {
      const other = new Database(context.engine.server.url, { timeout: 0 })
      await locks.transaction(async (tx) => {
        await tx('account').where({ id: 1 }).forUpdate()
        expect(() => other.exec('UPDATE account SET balance_now = 0')).toThrow('locked')
      })
      await knex('account').where({ id: 1 }).forUpdate()
      other.exec('UPDATE account SET balance_now = 0')
      other.close()
    },
  )

  test.runIf(context.name === 'postgres')('a pool of pg that Knex was given serves as well', async () => {
    const connectionPool = new pg.Pool({ connectionString: context.engine.server.url, max: 2 })
    const over = makeKnex({ client: 'pg', connectionPool })
    const own = createLocks(over)
    const work = own.transaction(async (tx) => {
      await own.rows(tx, tx('account').where({ id: 1 }))
      await tx.raw('select pg_terminate_backend(pg_backend_pid())')
    })
    await expect(work).rejects.toMatchObject({ kind: 'connection-lost', cause: { code: '57P01' } })
    expect(await own.transaction((tx) => own.rows(tx, tx('account')))).toHaveLength(2)
    expect(connectionPool).toMatchObject({ totalCount: 1, idleCount: 1 })
    await connectionPool.end()
  })

  test.runIf(context.name === 'postgres')('a connection is made ready for riding once', async () => {
    const own = createLocks(knex, { pipeline: true })
    const client = knex.client as Knex.Client
    const sending = async (): Promise<unknown> => {
      await own.transaction(async (tx) => tx('account').where({ id: 1 }))
      const connection = (await client.acquireConnection()) as { readonly query: unknown }
      const { query } = connection
      await client.releaseConnection(connection)
      return query
    }
    expect(await sending()).toBe(await sending())
  })

  test.runIf(context.name === 'postgres')(
    'a release is heard of, where the pool has a connection to spare',
    async () => {
      const held = await locks.lease('report')
      const waiting = locks.lease('report')
      const listeners = async (): Promise<boolean> => {
        const { rows } = await knex.raw<{ rows: unknown[] }>(
          `select from pg_stat_activity where datname = current_database() and query like 'LISTEN%'`,
        )
        return rows.length === 1
      }
      await until(listeners, 'one who listens')
      await held.release()
      await (await waiting).release()
    },
  )
}

describe('what is not an instance of Knex that Holdfast knows is refused when the locks are created', () => {
  const methods = { raw: () => {} }

  test('another object', () => {
    expect(() => createLocks({ client: {}, transaction: () => {}, ...methods })).toThrow(
      'knex 3.3 is known to work',
    )
  })

  test('another driver', () => {
    const client = { driverName: 'mssql', acquireConnection: () => {}, releaseConnection: () => {} }
    expect(() => createLocks({ client, transaction: () => {}, ...methods })).toThrow(
      'its client mssql is not one of pg, mysql2, better-sqlite3',
    )
  })

  test('a transaction', async () => {
    const knex = openKnex('sqlite', ':memory:', 1)
    await knex.transaction(async (trx) => {
      expect(() => createLocks(trx)).toThrow('is a transaction')
    })
    await knex.destroy()
  })
})

test('a database in memory is there as long as Knex is, whatever becomes of a transaction', async () => {
  const knex = openKnex('sqlite', ':memory:', 1)
  for (const sql of accounts) await knex.raw(sql)
  const locks = createLocks(knex)
  const failing = locks.transaction(async (tx) => {
    await tx('account').insert({ id: 3, balance_now: 1 })
    throw new Error('mine')
  })
  await expect(failing).rejects.toThrow('mine')
  expect(await locks.transaction((tx) => locks.rows(tx, tx('account')))).toHaveLength(2)
  await knex.destroy()
})
