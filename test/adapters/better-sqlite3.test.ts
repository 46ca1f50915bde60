import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/better-sqlite3/sessions.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import type { Session } from '../../src/core/session.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { watchSent } from '../sqlite-contention/sent.ts'

describeEngines(specs, { only: ['sqlite'] })

function specs(context: EngineContext): void {
  let handle: Database.Database
  beforeEach(() => {
    handle = new Database(context.engine.server.url, { timeout: 5000 })
    handle.exec('create table if not exists counter (id integer primary key, n integer not null)')
    handle.exec('insert or ignore into counter values (1, 0)')
  })
  afterEach(() => handle.close())

  const openOwn = (): Promise<Session> => sessions(() => new Database(context.engine.server.url)).open()
  const busyTimeout = (): unknown => handle.pragma('busy_timeout', { simple: true })

  test('sessions on one handle come one after another, in the order of asking', async () => {
    const order: number[] = []
    const work = async (number: number): Promise<void> => {
      // each time a new port: what counts is the handle
      const session = await sessions(handle).open()
      order.push(number)
      await session.begin({ mode: 'IMMEDIATE' })
      await session.run(context.kind.sample.increment)
      await session.commit()
      await session.release()
    }
    await Promise.all([1, 2, 3, 4, 5].map(work))
    expect(order).toEqual([1, 2, 3, 4, 5])
  })

  test('a session on a shared handle waits until the one before is released', async () => {
    const first = await sessions(handle).open()
    await first.begin()
    let isOpen = false
    const second = sessions(handle)
      .open()
      .then((session) => {
        isOpen = true
        return session
      })
    await new Promise(setImmediate)
    expect(isOpen).toBe(false)
    await first.rollback()
    await first.release()
    await (await second).release()
  })

  test('sessions with a handle each are open at the same time', async () => {
    const [first, second] = [await openOwn(), await openOwn()]
    await first.begin()
    await second.begin()
    await first.release()
    await second.release()
  })

  test('a handle of its own is closed with the session', async () => {
    const opened: Database.Database[] = []
    const each = sessions(() => {
      const database = new Database(context.engine.server.url)
      opened.push(database)
      return database
    })
    await (await each.open()).release()
    await (await each.open()).destroy(new Error('for the test'))
    expect(opened.map(({ open }) => open)).toEqual([false, false])
  })

  test.each([
    ['a shared handle', (database: Database.Database) => sessions(database).open()],
    ['a handle of its own', (database: Database.Database) => sessions(() => database).open()],
  ])(
    'on %s, SQLite is not let wait for a lock that is held, so the event loop never stands still',
    async (_, open) => {
      const holder = new Database(context.engine.server.url)
      holder.exec('begin immediate')
      const { onHandle, seen } = watchSent(/^(?:BEGIN|update)/)
      const database = new Database(context.engine.server.url, { timeout: 5000, verbose: onHandle(5000) })
      const session = await open(database)
      await expect(session.begin({ mode: 'IMMEDIATE' })).rejects.toMatchObject({ code: 'SQLITE_BUSY' })
      await expect(session.run(context.kind.sample.increment)).rejects.toMatchObject({ code: 'SQLITE_BUSY' })
      expect(seen().texts).toEqual([
        'BEGIN IMMEDIATE, busy_timeout 0',
        expect.stringMatching(/^update .*, busy_timeout 0$/),
      ])
      holder.close()
      await session.begin({ mode: 'IMMEDIATE' })
      await session.rollback()
      await session.release()
      database.close()
    },
  )

  test("without the adapter, the same handle's own wait stops the event loop", () => {
    const holder = new Database(context.engine.server.url)
    holder.exec('begin immediate')
    const waiting = new Database(context.engine.server.url, { timeout: 300 })
    const before = performance.now()
    expect(() => waiting.exec('begin immediate')).toThrow('database is locked')
    expect(performance.now() - before).toBeGreaterThan(250)
    waiting.close()
    holder.close()
  })

  test("the handle's own busy_timeout is as it was, even in the middle of a session and after an error", async () => {
    const session = await sessions(handle).open()
    expect(busyTimeout()).toBe(5000)
    await session.begin({ mode: 'IMMEDIATE' })
    await expect(session.run({ sql: 'no statement', params: [] })).rejects.toThrow()
    expect(busyTimeout()).toBe(5000)
    await session.rollback()
    await session.release()
    expect(busyTimeout()).toBe(5000)
  })

  test.each(['DEFERRED', 'IMMEDIATE', 'EXCLUSIVE'])('BEGIN %s takes the lock that it names', async (mode) => {
    const session = await openOwn()
    await session.begin({ mode })
    const isHeld = (await context.engine.leftovers()).length > 0
    expect(isHeld).toBe(mode !== 'DEFERRED')
    await session.rollback()
    await session.release()
  })

  test('every isolation level is given, since the only one is the highest; reading alone is refused', async () => {
    const session = await openOwn()
    for (const isolation of ['read uncommitted', 'snapshot', 'serializable'] as const) {
      await session.begin({ isolation })
      await session.rollback()
    }
    await expect(session.begin({ access: 'read-only' })).rejects.toMatchObject({ field: 'access' })
    await session.release()
  })

  test('a handle on which the application has a transaction open is refused, and goes to the next who asks', async () => {
    handle.exec('begin')
    await expect(sessions(handle).open()).rejects.toThrow(LockUsageError)
    handle.exec('rollback')
    await (await sessions(handle).open()).release()
  })

  test('a handle that is opened with what libsql alone has is refused, and closed', async () => {
    const opened = Object.assign(new Database(context.engine.server.url), { syncUntil: () => {} })
    await expect(sessions(() => opened).open()).rejects.toThrow('is a handle of libsql')
    expect(opened.open).toBe(false)
  })

  test('a destroyed session leaves a shared handle open, without a transaction', async () => {
    const session = await sessions(handle).open()
    await session.begin({ mode: 'IMMEDIATE' })
    expect(handle.inTransaction).toBe(true)
    await session.destroy(new Error('for the test'))
    expect(handle.open).toBe(true)
    expect(handle.inTransaction).toBe(false)
  })

  test('a refused COMMIT tells the error after which SQLite had rolled back', async () => {
    const session = await openOwn()
    await session.begin({ mode: 'IMMEDIATE' })
    const undone = { sql: 'insert or rollback into counter values (1, 0)', params: [] }
    const caught: unknown = await session.run(undone).catch((error: unknown) => error)
    const refused: unknown = await session.commit().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(LockUsageError)
    expect(refused).toMatchObject({ field: 'transaction', cause: caught })
    await session.release()
  })

  test('a whole number is stored as one, not as a fraction', async () => {
    const session = await openOwn()
    expect(await session.run({ sql: 'select typeof(?) as a, typeof(?) as b', params: [1, 1.5] })).toEqual([
      { a: 'integer', b: 'real' },
    ])
    await session.release()
  })

  test('a lock that another connection gives up is there for the next try', async () => {
    const session = await openOwn()
    const holder = new Database(context.engine.server.url)
    holder.exec('begin immediate')
    setImmediate(() => holder.close())
    await until(
      () =>
        session.begin({ mode: 'IMMEDIATE' }).then(
          () => true,
          () => false,
        ),
      'the lock, by trying again',
    )
    await session.rollback()
    await session.release()
  })
}
