import { expect, test } from 'vitest'

import { LockTimeoutError, LockUsageError } from '../../src/core/errors.ts'
import type { DeclaredStatement } from '../../src/locks/batch/statement.ts'
import { until } from '../engines/use.ts'
import { caught, describeEntries, gate, type Stage } from '../entries/stage.ts'

describeEntries(specs, ['mongodb'])

const read: DeclaredStatement = { sql: 'select n from counter where id = 1' }
const add: DeclaredStatement = { sql: 'update counter set n = n + 1 where id = 1' }

function specs(stage: Stage): void {
  const key = ['batch specs', stage.name]
  const one = { rows: 1 } as const
  const mark = stage.name === 'postgres' ? '$1' : '?'
  const addTo = (id: number): DeclaredStatement => ({
    sql: `update counter set n = n + 1 where id = ${mark}`,
    params: [id],
  })
  const numbers = (rows: readonly unknown[] | undefined): readonly number[] =>
    (rows ?? []).map((row) => Number((row as { readonly n: unknown }).n))

  /** Somebody who has the lock, and has changed the counter and not stored it yet. */
  const hold = async (): Promise<{ readonly holding: Promise<unknown>; readonly end: () => void }> => {
    const [began, ending] = [gate(), gate()]
    const holding = stage.entry.locks.withLock(key, async (tx) => {
      await stage.entry.increment(tx)
      began.open()
      await ending.opened
    })
    await began.opened
    return { holding, end: ending.open }
  }

  test('gives the rows of each statement, in their order, and stores all of them', async () => {
    const before = await stage.seen()
    const [first, changed, last] =
      (await stage.entry.locks.batch(key, [read, addTo(1), { ...read, sql: `${read.sql};` }])) ?? []
    expect([numbers(first), changed, numbers(last)]).toEqual([[before], [], [before + 1]])
    expect(await stage.seen()).toBe(before + 1)
  })

  test.each([
    ['as many rows as expected', one, true],
    ['at least as many', { atLeast: 0 }, true],
    ['fewer', { rows: 2 }, false],
    ['more', { rows: 0 }, false],
    ['too few', { atLeast: 2 }, false],
  ] as const)('a change of %s', async (_, expect_, isStored) => {
    const before = await stage.seen()
    const results = await stage.entry.locks.batch(key, [addTo(1), { ...addTo(1), expect: expect_ }, add])
    expect(results).toEqual(isStored ? [[], [], []] : undefined)
    expect(await stage.seen()).toBe(isStored ? before + 3 : before)
  })

  test('a read of as many rows as expected gives them, and one of others undoes what was stored before', async () => {
    const before = await stage.seen()
    const given = await stage.entry.locks.batch(key, [{ ...read, expect: one }])
    expect(numbers(given?.[0])).toEqual([before])
    const none = { sql: `select n from counter where id = ${mark}`, params: [99], expect: one }
    expect(await stage.entry.locks.batch(key, [add, none, add])).toBeUndefined()
    expect(await stage.seen()).toBe(before)
  })

  test('what is changed right after the call is not what is sent', async () => {
    const before = await stage.seen()
    const params = [1]
    const statements = [{ ...addTo(1), params }, read]
    const batch = stage.entry.locks.batch(key, statements)
    params[0] = 99
    statements.length = 0
    expect(await batch).toHaveLength(2)
    expect(await stage.seen()).toBe(before + 1)
  })

  test('an error of a statement is that of the driver, and nothing is stored', async () => {
    const before = await stage.seen()
    const twice = { sql: 'insert into counter (id, n) values (1, 1)' }
    const error = await caught(stage.entry.locks.batch(key, [add, twice, add]))
    expect(error).toBeInstanceOf(Error)
    expect((error as Error).message).toMatch(/unique|duplicate/i)
    expect(await stage.seen()).toBe(before)
  })

  test('waits for the lock, and sees what its holder has stored', async () => {
    const { locks } = stage.entry
    const before = await stage.seen()
    const { holding, end } = await hold()
    let isOver = false
    const batch = locks.batch(key, [read, add]).finally(() => (isOver = true))
    const late = await caught(locks.batch(key, [add], { wait: { timeoutMs: 50 } }))
    expect(late).toBeInstanceOf(LockTimeoutError)
    expect(isOver).toBe(false)
    end()
    await holding
    expect(numbers((await batch)?.[0])).toEqual([before + 1])
    expect(await stage.seen()).toBe(before + 2)
  })

  // SQLite has one writer at a time, whatever it asks for
  test.skipIf(stage.name === 'sqlite')(
    'under another key it does not wait, and sees what was there before its holder',
    async () => {
      const { locks } = stage.entry
      const before = await stage.seen()
      const { holding, end } = await hold()
      const other = await locks.batch([...key, 'other'], [read])
      end()
      await holding
      expect(numbers(other?.[0])).toEqual([before])
    },
  )

  test('of twelve who want one of the last five, five get it', async () => {
    const before = await stage.seen()
    const { locks } = stage.entry
    const take = { sql: `${add.sql} and n < ${before + 5}`, expect: one } as const
    const taken = await Promise.all(Array.from({ length: 12 }, () => locks.batch(key, [take])))
    expect(taken.filter((got) => got !== undefined)).toHaveLength(5)
    expect(await stage.seen()).toBe(before + 5)
  })

  test('with a wait of none, a lock that is held is refused at once', async () => {
    const { locks } = stage.entry
    await locks.withLock(key, async () => {
      const refused = await caught(outside(() => locks.batch(key, [add], { wait: 'nowait' })))
      expect(refused).toMatchObject({ name: expect.stringMatching(/LockNotAvailableError|LockUsageError/) })
    })
  })

  test.each<[string, readonly unknown[], string]>([
    ['a list with a hole', Array.from<unknown>({ length: 0 }).concat(Array(1)), 'statements[0]'],
    ['a table of what is read', [{ sql: 'select 1 as n into copied' }], 'statements[0].sql'],
    ['no statement', [], 'statements'],
    ['an end of the transaction', [{ sql: 'commit' }], 'statements[0].sql'],
    ['two statements in one', [add, { sql: `${add.sql}; ${add.sql}` }], 'statements[1].sql'],
    [
      'an end behind a comment that a carriage return ends',
      [{ sql: '-- x\rCOMMIT /*\nselect 1 */' }],
      'statements[0].sql',
    ],
    [
      'an end behind a quote in dollars',
      [{ sql: "select $é$ ' $é$; commit; select $é$ ' $é$" }],
      'statements[0].sql',
    ],
    [
      'a parenthesis that closes one of ours',
      [{ sql: 'select 1 as a), b as (delete from counter returning 1', expect: one }],
      'statements[0].sql',
    ],
    ['a text that is none', [{ sql: 7 }], 'statements[0].sql'],
    ['values that are no list', [{ sql: add.sql, params: 7 }], 'statements[0].params'],
    ['a guard of another kind', [{ ...add, expect: { rows: -1 } }], 'statements[0].expect'],
    ['a field that there is none of', [{ ...add, values: [] }], 'values'],
  ])('%s is refused before anything is sent', async (_, statements, field) => {
    const before = await stage.seen()
    const refused = await caught(stage.entry.locks.batch(key, statements as never))
    expect(refused).toBeInstanceOf(LockUsageError)
    expect((refused as Error).message).toContain(field)
    expect(await stage.seen()).toBe(before)
  })

  test.each([
    ['a comment at the end', 'update counter set n = n + 1 where id = 1 -- done', one, 1],
    [
      'a comment at the end of what must change nothing',
      'update counter set n = n + 1 where id = 1 -- 0',
      { rows: 0 },
      0,
    ],
    [
      'a WITH whose query is called like a verb',
      'with delete1 as (select 1 as id) select n from counter',
      one,
      0,
    ],
  ] as const)('%s is counted as it is', async (_, sql, expect_, added) => {
    const before = await stage.seen()
    const results = await stage.entry.locks.batch(key, [{ sql, expect: expect_ }])
    expect(results === undefined).toBe('rows' in expect_ && expect_.rows === 0)
    expect(await stage.seen()).toBe(before + added)
  })

  test('in an open transaction it is refused, with what to do instead', async () => {
    const { locks } = stage.entry
    const refused = await locks.transaction(() => caught(locks.batch(key, [add])))
    expect(refused).toBeInstanceOf(LockUsageError)
    expect((refused as Error).message).toContain('locks.lock(tx, key)')
  })

  test('an abort while the lock is waited for stores nothing, and rejects with its reason', async () => {
    const { locks } = stage.entry
    const before = await stage.seen()
    const [began, ending] = [gate(), gate()]
    const holding = locks.withLock(key, async () => {
      began.open()
      await ending.opened
    })
    await began.opened
    const stop = new AbortController()
    const batch = caught(locks.batch(key, [add], { signal: stop.signal }))
    const why = new Error('enough')
    stop.abort(why)
    expect(await batch).toBe(why)
    ending.open()
    await holding
    await until(async () => (await stage.engine.leftovers()).length === 0, 'nothing left')
    expect(await stage.seen()).toBe(before)
  })
}

/** Not in the chain of calls that holds the lock. */
function outside<T>(call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => call().then(resolve, reject))
  })
}
