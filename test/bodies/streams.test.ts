import { Kysely, MysqlDialect, PostgresDialect, sql, type Dialect, type Transaction } from 'kysely'
import mysqlCallbacks from 'mysql2'
import type { PoolClient } from 'pg'
import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/kysely.ts'
import type { SharedLocks } from '../../src/locks.ts'
import { pgPool } from '../adapters/subject.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'
import { caught } from '../entries/stage.ts'
import { Cursor } from './cursor.ts'
import { describeBodies, note, onPg, type Stage, type Subject } from './stage.ts'

interface Notes {
  note: { id: number }
  counter: { id: number; n: number }
}

const streaming: Readonly<Record<ServerName, (url: string) => Dialect>> = {
  ...dialects,
  postgres: (url) => new PostgresDialect({ pool: pgPool(url), cursor: Cursor as never }),
  mysql: (uri) => new MysqlDialect({ pool: mysqlCallbacks.createPool({ uri, connectionLimit: 2 }) }),
}

const onKysely: Subject = {
  title: 'kysely',
  engines: Object.keys(streaming),
  connect: (url, engine) => {
    const name = engine as ServerName
    const db = new Kysely<unknown>({ dialect: streaming[name](url) })
    return {
      locks: createLocks(db, { dialect: name }) as unknown as SharedLocks<unknown>,
      run: (tx, text) => sql.raw(text).execute(tx as Kysely<unknown>),
      close: () => db.destroy(),
    }
  },
}

describe('a stream', () => {
  describeBodies(specs, { only: [onKysely] })
  describe('whose statement loses against another', () => {
    describeBodies(deadlockSpecs, { only: [{ ...onKysely, engines: ['mysql', 'mariadb'] }] })
  })
  describe('of a cursor', () => {
    describeBodies(cursorSpecs, { only: [onPg] })
  })
})

function numbers(tx: unknown): AsyncIterableIterator<{ id: number }> {
  return (tx as Transaction<Notes>).selectFrom('counter').select('id').orderBy('id').stream(1)
}

function specs({ transaction, stored }: Stage): void {
  test('gives its rows, and what comes after it is stored', async () => {
    await transaction(async (send, tx) => {
      let rows = 0
      for await (const _ of numbers(tx)) rows += 1
      expect(rows).toBe(30)
      for await (const _ of numbers(tx)) break
      await send(note(1))
    })
    expect(await stored()).toEqual([1])
  })

  test('that the work has left open when it throws does not hold the rollback up', async () => {
    const ofWork = new Error('of the work')
    const said = caught(
      transaction(async (send, tx) => {
        await send(note(1))
        await numbers(tx).next()
        throw ofWork
      }),
    )
    expect(await said).toBe(ofWork)
    expect(await stored()).toEqual([])
  })

  test('that the work has left open when it returns is an error', async () => {
    let rest: AsyncIterableIterator<unknown> | undefined
    const said = caught(
      transaction(async (send, tx) => {
        await send(note(1))
        rest = numbers(tx)
        await rest.next()
      }),
    )
    expect(await said).toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([])
    expect(await caught(rest?.next() ?? Promise.resolve())).toBeInstanceOf(LockUsageError)
  })
}

function deadlockSpecs({ transaction, stored, ending }: Stage): void {
  test('fails the transaction, although its error was caught', async () => {
    let attempts = 0
    const said = await caught(
      transaction(
        async (send, tx) => {
          attempts += 1
          await send(note(1))
          await ending(send)
          const taken = (tx as Transaction<Notes>).selectFrom('counter').select('id').where('id', '=', 2)
          await caught(taken.forUpdate().stream().next())
          await caught(send(note(2)))
        },
        { attempts: 1 },
      ),
    )
    expect(classifyError(said)).toMatchObject({ kind: 'deadlock' })
    expect(await stored()).toEqual([])
    expect(attempts).toBe(1)
  })
}

function cursorSpecs({ transaction, stored }: Stage): void {
  test.each(['throws', 'returns'])('that is open when the work %s is closed', async (how) => {
    const ofWork = new Error('of the work')
    const said = caught(
      transaction(async (send, tx) => {
        await send(note(1))
        const cursor = (tx as PoolClient).query(new Cursor('select id from counter') as never) as Cursor
        expect(await cursor.read(2)).toHaveLength(2)
        if (how === 'throws') throw ofWork
      }),
    )
    expect(await said).toBe(how === 'throws' ? ofWork : 'no error')
    expect(await stored()).toEqual(how === 'throws' ? [] : [1])
  })
}
