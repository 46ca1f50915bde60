import mysql from 'mysql2/promise'
import { expect, onTestFinished, test } from 'vitest'

import { CommitOutcomeUnknownError, LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mysql2.ts'
import { describeEngines } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

describeEngines(
  (context) => {
    const connect = (options: mysql.PoolOptions): mysql.Pool => {
      const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1, ...options })
      onTestFinished(() => pool.end())
      return pool
    }
    const hidden = 'select 1; commit; start transaction'
    // to the server this blank is a letter, and the dashes are two signs
    const behindDashes = `select 1 from (select 5 as \u00a0) t where 1 --\u00a0; commit; start transaction`

    test.for<mysql.PoolOptions>([{ multipleStatements: true }, { flags: ['MULTI_STATEMENTS'] }])(
      'every statement of a text is read on a pool with %j',
      async (options) => {
        const locks = createLocks(connect(options))
        await locks.transaction(async (tx) => {
          for (const text of [hidden, behindDashes])
            expect(await caught(tx.query(text))).toBeInstanceOf(LockUsageError)
        })
      },
    )

    test.for<mysql.PoolOptions>([{}, { flags: ['-MULTI_STATEMENTS'], multipleStatements: true }])(
      'a semicolon is the business of the server, which refuses it, on a pool with %j',
      async (options) => {
        const locks = createLocks(connect(options))
        await locks.transaction(async (tx) => {
          expect(await caught(tx.query(hidden))).toMatchObject({ code: 'ER_PARSE_ERROR' })
        })
      },
    )

    test('a COMMIT that only ANSI_QUOTES shows is noticed', async () => {
      const pool = connect({ multipleStatements: true })
      await pool.query("set session sql_mode = concat(@@sql_mode, ',ANSI_QUOTES')")
      const locks = createLocks(pool)
      const error = await caught(
        locks.transaction(async (tx) => {
          await tx.query(String.raw`select 'it\'s' as "a\"; commit; select 1 as "x"`)
          throw new Error('nothing may be stored')
        }),
      )
      // the server does not say whether what ended it has committed or rolled back
      expect(error).toBeInstanceOf(CommitOutcomeUnknownError)
    })

    test.each([
      String.raw`insert into kept values (''); commit; begin; insert into kept values ('')`,
      String.raw`insert into kept values (''); commit and chain; insert into kept values ('')`,
      String.raw`set sql_mode = 'NO_BACKSLASH_ESCAPES'; select ''; commit; start transaction; select ''`,
    ])('one that only NO_BACKSLASH_ESCAPES shows, and that begins another, is refused: %s', async (text) => {
      const pool = connect({ multipleStatements: true })
      await pool.query('drop table if exists kept; create table kept (path varchar(9))')
      await pool.query("set session sql_mode = concat(@@sql_mode, ',NO_BACKSLASH_ESCAPES')")
      const work = createLocks(pool).transaction(async (tx) => {
        await tx.query("insert into kept values ('first')")
        await tx.query(text)
      })
      expect(await caught(work)).toBeInstanceOf(LockUsageError)
      expect((await pool.query('select * from kept'))[0]).toEqual([])
    })
  },
  { only: ['mysql', 'mariadb'] },
)
