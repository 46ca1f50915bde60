import { rm } from 'node:fs/promises'

import BetterSqlite3 from 'better-sqlite3'
import { describe, expect, test } from 'vitest'

import { classifyError } from '../../src/index.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks as betterSqlite3Locks } from '../../src/entries/better-sqlite3.ts'
import { createLocks } from '../../src/entries/node-sqlite.ts'
import { sessions } from '../../src/adapters/node-sqlite/sessions.ts'
import { laws } from '../../src/conformance/laws.ts'
import { describeLaws } from '../conformance/describe-laws.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { nodeSqlite, type NodeSqlite } from './node-sqlite.ts'

if (nodeSqlite === undefined)
  test.skip('node:sqlite: not run: this Node has none, or one from before 22.16', () => {})
else {
  const Database = nodeSqlite
  describeEngines((context) => specs(context, (file, timeout = 0) => new Database(file, { timeout })), {
    only: ['sqlite'],
  })
  describe('laws', () => {
    describeLaws(laws, {
      engines: ['sqlite'],
      adaptersOf: () => ['node:sqlite'],
      subjectOf: (_, adapter, url) => ({
        title: `sqlite through ${adapter}`,
        adapter,
        dialects: ['sqlite'],
        connect: async (size) => ({
          sessions: sessions(() => new Database(url)),
          size,
          close: async () => {},
        }),
      }),
    })
  })
}

function specs(context: EngineContext, openFile: (file: string, timeout?: number) => NodeSqlite): void {
  const open = (timeout?: number): NodeSqlite => openFile(context.engine.server.url, timeout)
  const reset = (): void => {
    const handle = open()
    handle.exec('DROP TABLE IF EXISTS stock')
    handle.exec('CREATE TABLE stock (item text PRIMARY KEY, n integer NOT NULL)')
    handle.exec("INSERT INTO stock VALUES ('book', 1)")
    handle.close()
  }
  const left = (handle: NodeSqlite): unknown => handle.prepare('SELECT n FROM stock').get()
  const book = { table: 'stock', key: { item: 'book' } }

  test('of two that buy the last one, one does', async () => {
    reset()
    const locks = createLocks(() => open(5000))
    const buy = (): Promise<string> =>
      locks.transaction(async (tx) => {
        const [row] = await locks.rows<{ n: number }>(tx, book)
        await new Promise(setImmediate)
        if (row === undefined || row.n < 1) return 'sold out'
        tx.prepare('UPDATE stock SET n = n - 1').run()
        return 'bought'
      })
    expect((await Promise.all([buy(), buy()])).toSorted()).toEqual(['bought', 'sold out'])
  })

  test('one handle is used by one transaction after another, and keeps its busy timeout', async () => {
    reset()
    const handle = open(1234)
    const locks = createLocks(handle)
    const add = (): Promise<void> =>
      locks.withLock('stock', async (tx) => {
        tx.prepare('UPDATE stock SET n = n + ?').run(1)
      })
    await Promise.all([add(), add(), add()])
    expect(left(handle)).toEqual({ n: 4 })
    expect(handle.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 1234 })
    handle.close()
  })

  test('what the work must not call is refused, and a view that is over takes nothing', async () => {
    reset()
    const handle = open()
    const locks = createLocks(handle)
    const ended = await caught(locks.transaction(async (tx) => tx.exec('COMMIT')))
    expect(ended).toBeInstanceOf(LockUsageError)
    const closed = await caught(locks.transaction(async (tx) => tx.close()))
    expect(closed).toBeInstanceOf(LockUsageError)
    const statement = await locks.transaction(async (tx) => tx.prepare('UPDATE stock SET n = 9'))
    expect(() => statement.run()).toThrow('the transaction has ended')
    expect(left(handle)).toEqual({ n: 1 })
    handle.close()
  })

  test('an error rolls back, also with an iterator open', async () => {
    reset()
    const handle = open()
    const locks = createLocks(handle)
    const work = locks.transaction(async (tx) => {
      tx.prepare('UPDATE stock SET n = 9').run()
      for (const row of tx.prepare('SELECT * FROM stock').iterate()) throw new Error(JSON.stringify(row))
    })
    await expect(work).rejects.toThrow('book')
    expect(handle.isTransaction).toBe(false)
    expect(left(handle)).toEqual({ n: 1 })
    handle.close()
  })

  test('another handle is refused the lock while it is held, and without it is not', async () => {
    reset()
    const locks = createLocks(() => open())
    const other = open()
    const held = gate()
    const done = gate()
    const holding = locks.transaction(async () => {
      held.open()
      await done.opened
    })
    await held.opened
    const refused = await caught((async () => other.exec('BEGIN IMMEDIATE'))())
    expect(classifyError(refused, { dialect: 'sqlite' }).kind).toBe('busy')
    done.open()
    await holding
    other.exec('BEGIN IMMEDIATE; ROLLBACK')
    other.close()
    expect(classifyError(await caught((async () => other.exec('SELECT 1'))())).kind).toBe('connection-lost')
  })

  test('a file that another library has open in this process is refused, since both get its lock', async () => {
    const file = `${context.engine.server.url}-two`
    const theirs = new BetterSqlite3(file)
    const ours = openFile(file)
    // what is refused below: both are the only writer
    theirs.exec('BEGIN IMMEDIATE')
    ours.exec('BEGIN IMMEDIATE')
    ours.exec('ROLLBACK')
    theirs.exec('ROLLBACK')
    await betterSqlite3Locks(theirs).transaction(async () => {})
    const second = await caught(createLocks(ours).transaction(async () => {}))
    expect(second).toBeInstanceOf(LockUsageError)
    expect((second as Error).message).toContain('through another SQLite library')
    await betterSqlite3Locks(() => new BetterSqlite3(file)).transaction(async () => {})
    ours.close()
    theirs.close()
    await rm(file)
  })

  test('a function has to open a handle of a file each time', async () => {
    const handle = open()
    await expect(createLocks(() => handle).transaction(async () => {})).rejects.toThrow(
      'source: the function gave a handle that is closed',
    )
    const inMemory = createLocks(() => openFile(':memory:'))
    await expect(inMemory.transaction(async () => {})).rejects.toThrow('an in-memory database has one handle')
    const one = openFile(':memory:')
    await createLocks(one).transaction(async () => {})
    one.close()
  })

  test('something else than a handle is refused', () => {
    expect(() => createLocks({} as NodeSqlite)).toThrow('pass a function that opens the database')
    const old = { prepare: () => {}, exec: () => {} } as unknown as NodeSqlite
    expect(() => createLocks(old)).toThrow('Node 22.16 or newer')
  })
}
