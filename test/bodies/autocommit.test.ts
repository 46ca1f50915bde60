import { Kysely, MysqlDialect } from 'kysely'
import mysqlCallbacks from 'mysql2'
import mysql from 'mysql2/promise'
import { beforeAll, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as kyselyLocks } from '../../src/entries/kysely.ts'
import { createLocks as mysqlLocks } from '../../src/entries/mysql2.ts'
import type { SharedLocks } from '../../src/locks.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

interface Pool {
  readonly locks: SharedLocks<never>
  /** The only connection, as its next user finds it. */
  readonly query: (text: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

const off = 'SET autocommit = 0'

const ways: readonly (readonly [string, (uri: string, name: string) => Pool])[] = [
  [
    'mysql2',
    (uri) => {
      const pool = mysql.createPool({ uri, connectionLimit: 1 })
      pool.pool.on('connection', (connection) => void connection.query(off))
      return {
        locks: mysqlLocks(pool) as unknown as SharedLocks<never>,
        query: async (text) => (await pool.query(text))[0],
        close: () => pool.end(),
      }
    },
  ],
  [
    'kysely',
    (uri, name) => {
      const pool = mysqlCallbacks.createPool({ uri, connectionLimit: 1 })
      pool.on('connection', (connection) => void connection.query(off))
      const db = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) })
      const locks = kyselyLocks(db, { dialect: name as 'mysql' })
      return {
        locks: locks as unknown as SharedLocks<never>,
        query: async (text) => (await pool.promise().query(text))[0],
        close: () => db.destroy(),
      }
    },
  ],
]

describe.each(ways)('a connection of %s that has autocommit off', (_, connect) => {
  describeEngines((context) => specs(context, connect), { only: ['mysql', 'mariadb'] })
})

function specs(context: EngineContext, connect: (uri: string, name: string) => Pool): void {
  beforeAll(async () => {
    const usual = mysqlLocks(mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 }))
    await (await usual.lease('makes the table', { ttlMs: 60_000 })).release()
  })

  const refused = async (use: (locks: SharedLocks<never>) => Promise<unknown>): Promise<void> => {
    const { locks, close } = connect(context.engine.server.url, context.name)
    const said = await caught(use(locks))
    await close()
    expect(said).toBeInstanceOf(LockUsageError)
    expect(said).toMatchObject({ field: 'pool' })
  }

  test('is refused for a transaction: what comes behind its end would be one more', () =>
    refused((locks) => locks.transaction(async () => {})))

  test('and is refused with a limit leaves no setting behind', async () => {
    const { locks, query, close } = connect(context.engine.server.url, context.name)
    const limits = "show session variables like '%lock_wait_timeout'"
    const before = await query(limits)
    const said = await caught(locks.transaction(async () => {}, { lockTimeoutMs: 300 }))
    expect(said).toBeInstanceOf(LockUsageError)
    expect(await query(limits)).toEqual(before)
    await close()
  })

  test('is refused for a lease: it would be granted, and never stored', () =>
    refused((locks) => locks.lease('of nobody', { ttlMs: 60_000 })))
}
