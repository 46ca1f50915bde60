import mysql from 'mysql2/promise'
import pg from 'pg'
import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as mysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'

interface Lent {
  readonly query: (text: string) => Promise<unknown>
  readonly release: () => void
}

/** A pool of one connection, and locks on it. */
interface Subject {
  readonly pool: { readonly query: (text: string) => Promise<unknown>; readonly end: () => Promise<unknown> }
  readonly transaction: (work: (tx: Lent) => Promise<unknown>) => Promise<unknown>
}

function onPg(connectionString: string): Subject {
  const pool = new pg.Pool({ connectionString, max: 1 })
  const locks = pgLocks(pool)
  return { pool, transaction: (work) => locks.transaction(work) }
}

function onMysql(uri: string): Subject {
  const pool = mysql.createPool({ uri, connectionLimit: 1 })
  const locks = mysqlLocks(pool)
  return { pool, transaction: (work) => locks.transaction(work) }
}

describeEngines(
  (context) => {
    test.each(['reset', 'changeUser'] as const)(
      'a body that calls %s, which makes the session new, is refused, and its transaction goes on',
      async (method) => {
        const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
        await pool.query('create table if not exists anew (id integer)')
        await pool.query('delete from anew')
        await mysqlLocks(pool).transaction(async (tx) => {
          await tx.query('insert into anew values (1)')
          expect(await caught(tx[method]({}))).toBeInstanceOf(LockUsageError)
          const { connection } = tx as unknown as { connection: Record<string, () => void> }
          expect(() => connection[method]?.()).toThrow(LockUsageError)
          await tx.query('insert into anew values (2)')
        })
        expect((await pool.query('select id from anew order by id'))[0]).toEqual([{ id: 1 }, { id: 2 }])
        await pool.end()
      },
    )
  },
  { only: ['mysql', 'mariadb'] },
)

describeEngines(
  (context) => {
    const open = (): Subject => (context.name === 'postgres' ? onPg : onMysql)(context.engine.server.url)

    test('a body that gives its connection back, as users of pools do, is refused, and nobody else gets it', async () => {
      const { pool, transaction } = open()
      await pool.query('create table released (id integer)')
      let bystander: Promise<unknown> | undefined
      const call = transaction(async (tx) => {
        try {
          await tx.query('insert into released values (1)')
          bystander = pool.query('insert into released values (2)')
        } finally {
          tx.release()
        }
      })
      expect(await caught(call)).toBeInstanceOf(LockUsageError)
      await bystander
      const rows = JSON.stringify(await pool.query('select id from released'))
      expect([rows.includes('"id":1'), rows.includes('"id":2')]).toEqual([false, true])
      await pool.end()
    })

    test("a connection that is given back late, when it is somebody else's, stays theirs", async () => {
      const { pool, transaction } = open()
      let late: Lent | undefined
      await transaction(async (tx) => void (late = tx))
      await transaction(async (tx) => {
        expect(() => late?.release()).toThrow(LockUsageError)
        await tx.query('select 1')
      })
      await pool.end()
    })
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)
