import { CompiledQuery, Kysely, MysqlDialect, sql } from 'kysely'
import mysql from 'mysql2'
import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/kysely.ts'
import { describeEngines } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

describeEngines(
  (context) => {
    // found by the fuzzer: the question whether the transaction was still there came between its rollback and the end of
    // the session, and the connection went back with its setting changed
    test('a body that goes on after an abort, with an error and a stream, leaves no setting behind', async () => {
      const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
      const db = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) })
      const locks = createLocks(db, { dialect: context.name as 'mysql' | 'mariadb' })
      const timeout = async (): Promise<unknown> =>
        (await db.executeQuery(CompiledQuery.raw('SELECT @@innodb_lock_wait_timeout AS s'))).rows[0]
      try {
        const before = await timeout()
        const aborting = new AbortController()
        const reason = new Error('on purpose')
        let body: Promise<void> | undefined
        const call = locks.transaction(
          (tx) =>
            (body = (async () => {
              aborting.abort(reason)
              await caught(sql.raw('SELECT nothing FROM nowhere').execute(tx))
              for await (const _ of tx.getExecutor().stream(CompiledQuery.raw('SELECT 1'), 1));
            })()),
          { lockTimeoutMs: 300, signal: aborting.signal },
        )
        expect(await caught(call)).toBe(reason)
        expect(await caught(body ?? Promise.resolve())).toBeInstanceOf(LockUsageError)
        expect(await timeout()).toEqual(before)
      } finally {
        await db.destroy()
      }
    })
  },
  { only: ['mysql', 'mariadb'] },
)
