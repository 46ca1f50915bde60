import {
  Kysely,
  MssqlAdapter,
  MssqlIntrospector,
  MssqlQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'

import { LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/kysely.ts'
import { tsqlParsers } from '../emit/tsql-parsers.ts'

interface Bank {
  account: { id: number; balance: number }
}

/** What Kysely's driver for SQL Server is asked to do. It proves our client side, and nothing about locking. */
const said: string[] = []

const connection = {
  executeQuery: async <R>({ sql }: CompiledQuery): Promise<QueryResult<R>> => {
    said.push(sql)
    if (sql.includes('fail')) throw Object.assign(new Error('lost'), { number: 1205, code: 'EREQUEST' })
    return { rows: [] }
  },
  beginTransaction: async () => void said.push('begin'),
  commitTransaction: async () => void said.push('commit'),
  rollbackTransaction: async () => void said.push('rollback'),
} as unknown as DatabaseConnection

const driver: Driver = {
  init: async () => {},
  acquireConnection: async () => connection,
  releaseConnection: async () => void said.push('release'),
  beginTransaction: async () => {},
  commitTransaction: async () => {},
  rollbackTransaction: async () => {},
  destroy: async () => {},
}

const db = new Kysely<Bank>({
  dialect: {
    createAdapter: () => new MssqlAdapter(),
    createDriver: () => driver,
    createQueryCompiler: () => new MssqlQueryCompiler(),
    createIntrospector: (instance) => new MssqlIntrospector(instance),
  },
})

describe('without a server: SQL Server through Kysely', () => {
  const locks = createLocks(db, { dialect: 'mssql', version: '16.0.4135.4' })
  beforeEach(() => void said.splice(0))

  test('begins and ends by the methods of the connection, and puts the hints behind the table', async () => {
    await locks.transaction(async (tx) => {
      await locks.rows(tx, tx.selectFrom('account as a').selectAll().where('a.id', '=', 7), {
        wait: 'nowait',
      })
      await tx.selectFrom('account').select('id').forUpdate().skipLocked().execute()
    })
    const [begun, first, second, ...end] = said
    expect([begun, ...end]).toEqual(['begin', 'commit', 'release'])
    expect(first).toBe('select * from "account" as "a" WITH (UPDLOCK, ROWLOCK, NOWAIT) where "a"."id" = @1')
    expect(second).toBe('select "id" from "account" WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)')
    for (const parser of await tsqlParsers()) {
      if (parser.name !== 'antlr4ts-sql') expect(parser.problem(first ?? ''), parser.name).toBeUndefined()
    }
  })

  test('a deadlock is the retryable class, and the work runs again', async () => {
    let runs = 0
    await locks.transaction(async (tx) => {
      runs += 1
      if (runs === 1)
        await tx
          .selectFrom('account')
          .selectAll()
          .where('id', 'in', tx.selectFrom('fail' as 'account').select('id'))
          .execute()
    })
    expect(runs).toBe(2)
    expect(said.filter((words) => words === 'begin' || words === 'rollback' || words === 'commit')).toEqual([
      'begin',
      'rollback',
      'begin',
      'commit',
    ])
  })

  test('refuses what a statement in a procedure of its own cannot keep or put back', async () => {
    await expect(locks.transaction(async () => 1, { lockTimeoutMs: 100 })).rejects.toThrow(
      UnsupportedLockError,
    )
    await expect(locks.transaction(async () => 1, { isolation: 'serializable' })).rejects.toThrow(
      LockUsageError,
    )
    const timed = locks.transaction((tx) =>
      locks.rows(tx, tx.selectFrom('account').selectAll(), { wait: { timeoutMs: 100 } }),
    )
    await expect(timed).rejects.toMatchObject({
      category: 'lock-timeout',
      instead: expect.stringContaining('nowait'),
    })
  })
})
