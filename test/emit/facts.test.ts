import { afterEach, beforeEach, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import type { Row, Statement } from '../../src/core/statement.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'

/** What the dialects' reasons and comments say of the engines, seen on the engines. */

const run = (session: EngineSession, text: string): Promise<readonly Row[]> =>
  session.run({ sql: text, params: [] })
const kindOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => classifyError(error).kind,
  )

/** Two sessions on a fresh table of one row, closed after each spec. */
function twoSessions(
  context: EngineContext,
  fresh: readonly Statement[],
): { a: EngineSession; b: EngineSession } {
  const pair = {} as { a: EngineSession; b: EngineSession }
  beforeEach(async () => {
    pair.a = await context.engine.open()
    pair.b = await context.engine.open()
    for (const statement of fresh) await pair.a.run(statement)
  })
  afterEach(async () => {
    await Promise.allSettled([pair.a.close(), pair.b.close()])
  })
  return pair
}

const freshTable: readonly Statement[] = [
  { sql: 'DROP TABLE IF EXISTS stock', params: [] },
  { sql: 'CREATE TABLE stock (id INTEGER PRIMARY KEY, n INTEGER, note VARCHAR(20))', params: [] },
  { sql: "INSERT INTO stock VALUES (1, 10, 'x'), (9, 90, 'y')", params: [] },
]

describeEngines(
  (context) => {
    const pair = twoSessions(context, freshTable)

    test('LOCK TABLES commits the open transaction', async () => {
      await pair.a.begin()
      await run(pair.a, 'UPDATE stock SET n = 11 WHERE id = 1')
      await run(pair.a, 'LOCK TABLES stock WRITE')
      await pair.a.rollback()
      await run(pair.a, 'UNLOCK TABLES')
      expect(await run(pair.b, 'SELECT n FROM stock WHERE id = 1')).toEqual([{ n: 11 }])
    })

    test('a transaction that begins drops the table lock', async () => {
      await run(pair.a, 'LOCK TABLES stock WRITE')
      const writing = run(pair.b, 'UPDATE stock SET n = 12 WHERE id = 1')
      await until(() => context.engine.isWaiting(pair.b), 'the writer waits for the table')
      await pair.a.begin()
      await writing
      await pair.a.rollback()
    })

    test('two transactions lock the same gap, and one is the victim when both insert into it', async () => {
      for (const session of [pair.a, pair.b]) {
        await session.begin()
        expect(await run(session, 'SELECT * FROM stock WHERE id = 5 FOR UPDATE')).toEqual([])
      }
      const first = kindOf(run(pair.a, "INSERT INTO stock VALUES (5, 50, '')"))
      await until(() => context.engine.isWaiting(pair.a), 'the first insert waits for the gap')
      const kinds = [await kindOf(run(pair.b, "INSERT INTO stock VALUES (5, 51, '')")), await first]
      expect(kinds.toSorted()).toEqual(['deadlock', 'no error'])
    })
  },
  { only: ['mysql', 'mariadb'] },
)

describeEngines(
  (context) => {
    const pair = twoSessions(context, freshTable)
    const both = async (first: string, second: string): Promise<readonly string[]> => {
      await pair.a.begin()
      await pair.b.begin()
      const kinds = [await kindOf(run(pair.a, first)), await kindOf(run(pair.b, second))]
      await pair.a.commit()
      await (kinds[1] === 'no error' ? pair.b.commit() : pair.b.rollback())
      return kinds
    }

    test('two changes of one column of a row conflict at once', async () => {
      expect(
        await both('UPDATE stock SET n = 11 WHERE id = 1', 'UPDATE stock SET n = 12 WHERE id = 1'),
      ).toEqual(['no error', 'write-conflict'])
    })

    test('writing a row without changing it conflicts with nothing, so it is no lock', async () => {
      expect(
        await both('UPDATE stock SET n = n WHERE id = 1', 'UPDATE stock SET n = 12 WHERE id = 1'),
      ).toEqual(['no error', 'no error'])
    })

    test('changes of different columns of one row do not conflict', async () => {
      expect(
        await both('UPDATE stock SET n = 11 WHERE id = 1', "UPDATE stock SET note = 'z' WHERE id = 1"),
      ).toEqual(['no error', 'no error'])
    })

    test('a change and a DELETE of one row do not conflict, and the change is lost', async () => {
      expect(await both('UPDATE stock SET n = 11 WHERE id = 1', 'DELETE FROM stock WHERE id = 1')).toEqual([
        'no error',
        'no error',
      ])
      expect(await run(pair.a, 'SELECT * FROM stock WHERE id = 1')).toEqual([])
    })

    test('writing the key column to itself undoes a change that another has committed since', async () => {
      await pair.b.begin()
      await run(pair.b, 'SELECT * FROM stock')
      await run(pair.a, 'UPDATE stock SET n = 11 WHERE id = 1')
      await run(pair.b, 'UPDATE stock SET id = id WHERE id = 1')
      await pair.b.commit()
      expect(await run(pair.a, 'SELECT n FROM stock WHERE id = 1')).toEqual([{ n: 10 }])
    })
  },
  { only: ['duckdb'] },
)

describeEngines(
  (context) => {
    const pair = twoSessions(context, freshTable)

    test('BEGIN EXCLUSIVE lets readers of a WAL database through', async () => {
      await pair.a.begin('EXCLUSIVE')
      await run(pair.a, 'UPDATE stock SET n = 11 WHERE id = 1')
      expect(await run(pair.b, 'SELECT n FROM stock WHERE id = 1')).toEqual([{ n: 10 }])
      await pair.a.rollback()
    })

    test('BEGIN IMMEDIATE inside a transaction is an error', async () => {
      await pair.a.begin()
      await expect(pair.a.begin('IMMEDIATE')).rejects.toThrow(/within a transaction/)
      await pair.a.rollback()
    })

    test('a transaction that reads first cannot write once another has written', async () => {
      await pair.a.begin()
      await run(pair.a, 'SELECT * FROM stock')
      await run(pair.b, 'UPDATE stock SET n = 12 WHERE id = 1')
      expect(await kindOf(run(pair.a, 'UPDATE stock SET n = 11 WHERE id = 1'))).not.toBe('no error')
      await pair.a.rollback()
    })
  },
  { only: ['sqlite'] },
)

describeEngines(
  (context) => {
    const stock = { insert: 'stock', documents: [{ _id: 1, n: 10 }] }
    const empty = { delete: 'stock', deletes: [{ q: {}, limit: 0 }] }
    const pair = twoSessions(context, [{ command: empty }, { command: stock }])
    const update = (u: Readonly<Record<string, unknown>>): Statement => ({
      command: { update: 'stock', updates: [{ q: { _id: 1 }, u }] },
    })
    const both = async (first: Statement, second: Statement): Promise<readonly string[]> => {
      await pair.a.begin()
      await pair.b.begin()
      const kinds = [await kindOf(pair.a.run(first)), await kindOf(pair.b.run(second))]
      await pair.a.commit()
      await pair.b.rollback().catch(() => {})
      return kinds
    }

    test('two transactions that change one document conflict at once', async () => {
      expect(await both(update({ $inc: { n: 1 } }), update({ $inc: { n: 1 } }))).toEqual([
        'no error',
        'write-conflict',
      ])
    })

    test('a write that changes nothing conflicts with nothing, so it is no lock', async () => {
      expect(await both(update({ $set: { n: 10 } }), update({ $inc: { n: 1 } }))).toEqual([
        'no error',
        'no error',
      ])
    })

    test('reading in a transaction locks nothing', async () => {
      expect(
        await both({ command: { find: 'stock', filter: { _id: 1 } } }, update({ $inc: { n: 1 } })),
      ).toEqual(['no error', 'no error'])
    })
  },
  { only: ['mongodb'] },
)
