import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { rawHashtextKey, rawInt32PairKey, rawInt64Key } from '../../src/core/raw-key.ts'
import { isSql, type SqlStatement, type Value } from '../../src/core/statement.ts'
import { emit } from '../../src/emit.ts'
import { registry } from '../../src/registry.ts'
import type { LockKey } from '../../src/core/key.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines } from '../engines/use.ts'

const inHead = (statement: SqlStatement): SqlStatement | undefined =>
  registry.postgres.named.inHead?.(statement)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })

function lockStatement(key: LockKey, wait: 'block' | 'nowait' = 'block'): SqlStatement {
  const [statement] = emit('postgres', 'advisory', { key, wait }).inTransaction
  return statement !== undefined && isSql(statement) ? statement : expect.unreachable()
}

describe('a lock statement that travels with BEGIN', () => {
  test.each([
    [lockStatement('orders'), /^SELECT pg_advisory_xact_lock\('-?\d+'::bigint\) \/\* hf:orders \*\/$/],
    [lockStatement(rawInt64Key(-5)), /^SELECT pg_advisory_xact_lock\('-5'::bigint\)$/],
    [lockStatement(rawInt32PairKey(-1, 2)), /^SELECT pg_advisory_xact_lock\('-1'::int, '2'::int\)$/],
    [
      lockStatement(['Orders', 7], 'nowait'),
      /^SELECT pg_try_advisory_xact_lock\('-?\d+'::bigint\) AS answer \/\* hf:orders\.7 \*\/$/,
    ],
  ])('has its numbers in its text: %o', (statement, text) => {
    expect(inHead(statement)).toEqual({ ...statement, sql: expect.stringMatching(text), params: [] })
  })

  test('cannot be had of a key that is hashed by the server: it is text', () => {
    expect(inHead(lockStatement(rawHashtextKey("x'); drop table account; --")))).toBeUndefined()
  })

  test('cannot be had with any parameter but a whole number', () => {
    const others: readonly Value[] = [
      '5',
      '',
      'a',
      true,
      null,
      new Date(0),
      new Uint8Array(1),
      0.5,
      NaN,
      Infinity,
      2 ** 53,
    ]
    for (const value of others) {
      expect(inHead({ sql: 'SELECT $1::bigint', params: [value] })).toBeUndefined()
      expect(inHead({ sql: 'SELECT $1::bigint, $2::bigint', params: [1n, value] })).toBeUndefined()
    }
  })

  test('cannot be had where a placeholder might be something else, or has no value', () => {
    const texts = [
      "SELECT '$1::bigint'",
      'SELECT "$1::bigint"',
      'SELECT 1 -- $1::bigint',
      'SELECT /* $1::bigint */ 1',
      'SELECT $1::bigint /* orders */',
      'SELECT $1::bigint /* hf: */',
      'SELECT $1::bigint /* hf:orders 7 */',
      'SELECT $1::bigint /* hf:Orders */',
      'SELECT $1::bigint /* hf:$1::bigint */',
      'SELECT $1::bigint /* hf:orders',
      'SELECT $1::bigint /* hf:orders */ /* hf:orders */',
      'SELECT $1::bigint /* hf:orders */, 2',
      'SELECT $1::bigint /* hf:/* */',
      'SELECT $1::bigint /* hf:orders */; SELECT 2 /* hf:orders */',
      '/* hf:orders */ SELECT $1::bigint',
      'SELECT $a$ $1::bigint $a$',
      'SELECT $1::bigint; SELECT 2',
      'SELECT $1',
      'SELECT $2::bigint',
      'SELECT $0::bigint',
    ]
    for (const sql of texts) expect([sql, inHead({ sql, params: [1n] })]).toEqual([sql, undefined])
  })

  test('names its key whatever the key is, in a comment that nothing ends', () => {
    const part = fc.oneof(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.constantFrom('*/', '/*', "'; --", '$1'),
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), (key) => {
        const text = inHead(lockStatement(key))?.sql
        expect(text).toMatch(/^SELECT pg_advisory_xact_lock\('-?\d+'::bigint\) \/\* hf:[a-z0-9._-]+ \*\/$/)
      }),
    )
  })

  test('is never anything but digits and quotes more than it was, whatever the text and the values', () => {
    const text = fc.string({ unit: fc.constantFrom(...'$1 2:\'";-/*abc(),'.split('')) })
    const value = fc.oneof(int64, int32, fc.double(), fc.string(), fc.constant(null))
    fc.assert(
      fc.property(text, fc.array(value, { maxLength: 3 }), (sql, params) => {
        const inText = inHead({ sql, params })
        if (inText === undefined || params.length === 0) return
        expect(inText.sql.replaceAll(/'-?\d+'/g, '$')).toBe(sql.replaceAll(/\$\d+/g, '$'))
      }),
      { numRuns: 5_000 },
    )
  })
})

describeEngines(
  (context) => {
    let session: EngineSession
    beforeAll(async () => {
      session = await context.engine.open()
    })
    afterAll(() => session.close())
    const values = async (statement: SqlStatement): Promise<unknown> => (await session.run(statement))[0]

    test('means the same to the server as the one with parameters', async () => {
      await fc.assert(
        fc.asyncProperty(int64, int32, int32, async (big, first, second) => {
          const statement = {
            sql: 'SELECT $1::bigint AS a, $2::int AS b, $3::int AS c',
            params: [big, first, second],
          }
          const inText = inHead(statement) ?? expect.unreachable()
          expect(await values(inText)).toEqual(await values(statement))
        }),
        {
          numRuns: 200,
          examples: [
            [-(2n ** 63n), -(2 ** 31), 0],
            [2n ** 63n - 1n, 2 ** 31 - 1, -0],
          ],
        },
      )
    })

    test('takes the same lock', async () => {
      const other = await context.engine.open()
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            int64.map(rawInt64Key),
            fc.tuple(int32, int32).map((pair) => rawInt32PairKey(...pair)),
          ),
          async (key) => {
            const inText = inHead(lockStatement(key, 'nowait')) ?? expect.unreachable()
            await session.begin()
            await session.run(lockStatement(key))
            expect(await other.run(inText)).toEqual([{ answer: false }])
            await session.rollback()
            expect(await other.run(inText)).toEqual([{ answer: true }])
          },
        ),
        { numRuns: 50 },
      )
      await other.close()
    })
  },
  { only: ['postgres'] },
)
