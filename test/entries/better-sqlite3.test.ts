import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import {
  LockNotAvailableError,
  LockTimeoutError,
  LockUsageError,
  UnsupportedLockError,
} from '../../src/core/errors.ts'
import { createLocks, sessions } from '../../src/entries/better-sqlite3.ts'
import { registry } from '../../src/registry.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { watchSent } from '../sqlite-contention/sent.ts'
import { caught, gate } from './stage.ts'
import { counterOf } from './subject.ts'

describeEngines(specs, { only: ['sqlite'] })

const target = counterOf('sqlite')

function specs(context: EngineContext): void {
  let shared: Database.Database
  let other: EngineSession
  let sent: ReturnType<typeof watchSent>
  const open = (): Database.Database =>
    new Database(context.engine.server.url, { timeout: 5000, verbose: sent.onHandle(5000) })
  beforeEach(async () => {
    other = await context.engine.open()
    sent = watchSent()
    shared = open()
    shared.exec('create table if not exists counter (id integer primary key, n integer not null)')
    shared.exec('insert or replace into counter values (1, 0)')
  })
  afterEach(async () => {
    shared.close()
    await other.close()
    expect(await context.engine.leftovers()).toEqual([])
  })
  const increment = async (tx: Database.Database): Promise<unknown> =>
    tx.prepare('update counter set n = n + 1 where id = 1').run()
  const seen = (): unknown => shared.prepare('select n from counter where id = 1').pluck().get()

  describe.each([
    ['a handle for each', () => createLocks(open)],
    ['one handle for all', () => createLocks(shared)],
  ])('%s', (_, create) => {
    test('the rows come with a receipt that tells of the lock on the whole database', async () => {
      const locks = create()
      const rows = await locks.transaction((tx) => locks.rows<{ id: number; n: number }>(tx, target))
      expect([...rows]).toEqual([{ id: 1, n: 0 }])
      expect(rows.receipt).toMatchObject({
        dialect: 'sqlite',
        granularity: 'database',
        support: { level: 'stronger' },
      })
    })

    test('a SELECT of the own making is covered too', async () => {
      const locks = create()
      const query = { sql: 'select n from counter where id = ?', params: [1] }
      expect([...(await locks.transaction((tx) => locks.rows(tx, query)))]).toEqual([{ n: 0 }])
    })

    test('while another has the lock, the transaction waits without stopping the event loop, until its limit', async () => {
      const locks = create()
      await other.begin('immediate')
      const refused = await caught(locks.transaction(increment, { lockTimeoutMs: 300 }))
      expect(refused).toBeInstanceOf(LockTimeoutError)
      // it may be one of this very process
      expect(refused).toMatchObject({
        message: 'the database was locked by another connection for too long',
        cause: { code: 'SQLITE_BUSY' },
      })
      expect(sent.seen().texts).toEqual(['BEGIN IMMEDIATE, busy_timeout 0'])
      await other.rollback()
      await locks.transaction(increment)
      expect(seen()).toBe(1)
    })

    test('the lock is taken when the other gives it up', async () => {
      const locks = create()
      await other.begin('immediate')
      let isDone = false
      const waiting = locks.transaction(increment).then(() => (isDone = true))
      await new Promise(setImmediate)
      expect(isDone).toBe(false)
      await other.rollback()
      await waiting
      expect(seen()).toBe(1)
    })

    test('a wait that is aborted ends with the reason of the signal, and the next transaction works', async () => {
      const locks = create()
      await other.begin('immediate')
      const signal = AbortSignal.timeout(50)
      expect(await caught(locks.transaction(increment, { signal }))).toBe(signal.reason)
      await other.rollback()
      await locks.transaction(increment)
      expect(seen()).toBe(1)
    })

    test('many transactions of one process come one after another, and none is lost or repeated', async () => {
      const locks = create()
      let retries = 0
      const work = async (tx: Database.Database): Promise<void> => {
        const n = tx.prepare<[], number>('select n from counter where id = 1').pluck().get() ?? 0
        await new Promise(setImmediate)
        tx.prepare('update counter set n = ? where id = 1').run(n + 1)
      }
      const onRetry = (): void => void (retries += 1)
      await Promise.all(Array.from({ length: 20 }, () => locks.transaction(work, { onRetry })))
      expect(seen()).toBe(20)
      expect(retries).toBe(0)
    })

    test('a transaction that SQLite has rolled back after an error that was caught is not taken for stored', async () => {
      const locks = create()
      const work = async (tx: Database.Database): Promise<void> => {
        await increment(tx)
        expect(() => tx.prepare('insert or rollback into counter values (1, 0)').run()).toThrow('UNIQUE')
      }
      await expect(locks.transaction(work)).rejects.toMatchObject({ field: 'transaction' })
      expect(seen()).toBe(0)
    })

    test('skipping locked rows is refused with the declared reason', async () => {
      const locks = create()
      // @ts-expect-error SQLite has no row locks to skip
      const refused = await caught(locks.transaction((tx) => locks.rows(tx, target, { wait: 'skip' })))
      expect(refused).toBeInstanceOf(UnsupportedLockError)
      expect(refused).toMatchObject({ reason: registry.sqlite.cells['skip-locked'].reason })
    })
  })

  test('a lock that is not waited for is busy while a transaction of the same process writes', async () => {
    const [writes, isRefused] = [gate(), gate()]
    const writer = createLocks(open).transaction(async (tx) => {
      await increment(tx)
      writes.open()
      await isRefused.opened
    })
    await writes.opened
    const asked = createLocks(open).acquire('report', { wait: 'nowait' })
    await expect(asked).rejects.toBeInstanceOf(LockNotAvailableError)
    isRefused.open()
    await writer
  })

  test('a second locks object on the same file stands in the same line', async () => {
    const [first, second] = [createLocks(open), createLocks(shared)]
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? first : second).transaction(increment, { lockTimeoutMs: 60_000 }),
      ),
    )
    expect(seen()).toBe(10)
  })

  test('the lane is named by the file, whoever opened it, and opened once to learn it', () => {
    let opened = 0
    const each = sessions(() => {
      opened += 1
      return open()
    })
    expect(each.lane?.()).toBe(sessions(shared).lane?.())
    expect(each.lane?.()).toContain('.sqlite')
    expect(opened).toBe(1)
  })

  test('a function that gives one handle each time is refused by the first transaction', async () => {
    const handle = open()
    const refused = await caught(createLocks(() => handle).transaction(increment))
    expect(refused).toBeInstanceOf(LockUsageError)
    expect((refused as Error).message).toBe(
      'source: the function gave a handle that is closed: it must open a new one each time. ' +
        'For one handle write createLocks(db)',
    )
    expect(seen()).toBe(0)
  })

  test('a handle that a function gives to two sessions is refused to the second, and stays with the first', async () => {
    const handle = open()
    const { open: openSession } = sessions(() => handle)
    const first = await openSession()
    await expect(openSession()).rejects.toThrow('source: the function gave a handle that it gave before')
    await first.begin({ mode: 'IMMEDIATE' })
    await first.commit()
    await first.release()
  })

  test.each([':memory:', ''])(
    'a function that opens %j is refused: each handle would be another database',
    async (name) => {
      const handles: Database.Database[] = []
      const locks = createLocks(() => {
        const handle = new Database(name)
        handles.push(handle)
        return handle
      })
      for (const call of [() => locks.transaction(increment), () => locks.lease('report')]) {
        const refused = await caught(call())
        expect(refused).toBeInstanceOf(LockUsageError)
        expect((refused as Error).message).toBe(
          'source: an in-memory database has one handle: pass it, not a function',
        )
      }
      // it may be the only one that the application has, with all that is in it
      expect(handles.map((handle) => handle.open)).toEqual(handles.map(() => true))
      for (const handle of handles) handle.close()
    },
  )

  test('a database without a file has a lane of its own', () => {
    const handles = [new Database(':memory:'), new Database(':memory:'), new Database('')]
    const names = handles.map((handle) => sessions(handle).lane?.())
    expect(new Set(names).size).toBe(3)
    expect(handles.map((handle) => sessions(handle).lane?.())).toEqual(names)
    for (const handle of handles) handle.close()
  })
}
