import mysql from 'mysql2/promise'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mysql2.ts'
import type { Locks } from '../../src/locks.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { note } from './stage.ts'

/** The connection of callbacks, which `mysql2` has beneath the one of promises. */
interface Core {
  readonly query: (text: string, done: Done) => unknown
  once(event: string, listener: () => void): Core
  promise(): { query(text: string): Promise<unknown> }
  prepare(text: string, done: (error: Error | null, statement: CoreStatement) => void): void
  destroy(): void
}

interface CoreStatement {
  readonly execute: (values: readonly never[], done: Done) => unknown
}

type Done = (error: Error | null) => void

type Send = () => Promise<unknown>
type Method = (input: string) => Promise<unknown>

const coreOf = (tx: mysql.PoolConnection): Core => (tx as unknown as { readonly connection: Core }).connection

const statementOf = async (tx: mysql.PoolConnection): Promise<CoreStatement> =>
  ((await tx.prepare(note(9))) as unknown as { readonly statement: CoreStatement }).statement

const told = (call: (done: Done) => unknown): Promise<void> =>
  new Promise((resolve, reject) => void call((error) => (error == null ? resolve() : reject(error))))

const querying =
  ({ query }: Core): Send =>
  () =>
    told((done) => query(note(9), done))

const executing =
  ({ execute }: CoreStatement): Send =>
  () =>
    told((done) => execute([], done))

/** What a work may take from its tx, and keep: each stores a note when it is called. */
const handles: readonly (readonly [string, (tx: mysql.PoolConnection) => Promise<Send>])[] = [
  [
    'tx.query',
    async (tx) => {
      const query: Method = Reflect.get(tx, 'query')
      return () => query(note(9))
    },
  ],
  [
    'what tx.once gives',
    async (tx) => {
      const same = tx.once('end', () => {})
      return () => same.query(note(9))
    },
  ],
  [
    'execute of a prepared statement',
    async (tx) => {
      const execute: (values: unknown) => Promise<unknown> = Reflect.get(await tx.prepare(note(9)), 'execute')
      return () => execute([])
    },
  ],
  ['execute of what it is made of', async (tx) => executing(await statementOf(tx))],
  [
    'the connection of that',
    async (tx) => querying(Reflect.get(await statementOf(tx), '_connection') as Core),
  ],
  ['tx.connection.query', async (tx) => querying(coreOf(tx))],
  ['what tx.connection.once gives', async (tx) => querying(coreOf(tx).once('end', () => {}))],
  [
    'tx.connection.promise()',
    async (tx) => {
      const promised = coreOf(tx).promise()
      return () => promised.query(note(9))
    },
  ],
  [
    'a statement that tx.connection has prepared',
    (tx) =>
      new Promise((resolve, reject) => {
        coreOf(tx).prepare(note(9), (error, statement) =>
          error == null ? resolve(executing(statement)) : reject(error),
        )
      }),
  ],
]

describe('what a work has taken from its tx', () => {
  describeEngines(specs, { only: ['mysql', 'mariadb'] })
})

function specs(context: EngineContext): void {
  let pool: mysql.Pool
  let locks: Locks<mysql.PoolConnection, 'mysql' | 'mariadb'>
  const stored = async (): Promise<unknown> => (await pool.query('select id from note order by id'))[0]
  beforeAll(async () => {
    pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
    locks = createLocks(pool)
    await pool.query('create table note (id integer primary key)')
  })
  beforeEach(() => pool.query('delete from note'))
  afterAll(() => pool.end())

  describe.each(handles)('%s', (_, take) => {
    test('is refused in the next transaction on the connection', async () => {
      const [late] = await locks.transaction(async (tx) => [await take(tx)])
      await locks.transaction(async (tx) => {
        await tx.query(note(1))
        expect(await caught(late?.() ?? Promise.resolve())).toBeInstanceOf(LockUsageError)
      })
      expect(await stored()).toEqual([{ id: 1 }])
    })

    test('fails the transaction when nobody waits for it and it fails', async () => {
      const failing = locks.transaction(async (tx) => {
        const send = await take(tx)
        await tx.query(note(9))
        void caught(send())
      })
      expect(await caught(failing)).toMatchObject({ name: 'LockUsageError', field: 'transaction' })
      expect(await stored()).toEqual([])
    })
  })

  test('a prepared statement is closed behind its uses, and not after the end', async () => {
    const [late] = await locks.transaction(async (tx) => {
      const statement = await tx.prepare('insert into note values (?)')
      await statement.execute([1])
      void statement.execute([2])
      void statement.execute([3])
      await statement.close()
      await tx.query(note(4))
      const other = await tx.prepare(note(9))
      return [() => other.close()]
    })
    expect(await stored()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }])
    expect(await caught(late?.() ?? Promise.resolve())).toBeInstanceOf(LockUsageError)
  })

  test('a function that nobody waits for is stored as a whole, with a ping in it', async () => {
    await locks.transaction(async (tx) => {
      const helper = async (): Promise<void> => {
        await tx.ping()
        await tx.query(note(1))
        await tx.ping()
        await tx.query(note(2))
      }
      void helper()
    })
    expect(await stored()).toEqual([{ id: 1 }, { id: 2 }])
  })

  test('does not end the connection of the next transaction', async () => {
    const left = await locks.transaction(async (tx) => [() => tx.destroy(), () => coreOf(tx).destroy()])
    await locks.transaction(async (tx) => {
      await tx.query(note(1))
      for (const destroy of left) expect(destroy).toThrow(LockUsageError)
    })
    expect(await stored()).toEqual([{ id: 1 }])
  })
}
