import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { performance } from '../../src/core/clock.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import type { LockEvent } from '../../src/events/shapes.ts'
import { guardHolds, type GuardOptions } from '../../src/watch/guard.ts'
import type { HoldReport } from '../../src/watch/hold-report.ts'
import type { Locks } from '../../src/locks.ts'
import { waitersFor } from '../../src/watch/waiters.ts'
import { change, describeLibraries, once, run } from '../deadlocks/stage.ts'
import { until } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { lineHere } from './line-here.ts'
import { rows } from './order-programs.ts'

const sleeps: Readonly<Record<string, string>> = {
  postgres: 'select pg_sleep(0.05)',
  mysql: 'select sleep(0.05)',
  mariadb: 'select sleep(0.05)',
}

/** Reports until the end of the test. */
function guarded(options: GuardOptions = {}): HoldReport[] {
  const reports: HoldReport[] = []
  const { stop } = guardHolds({
    suspectMs: 'off',
    brokenMs: 1,
    onHold: (report) => void reports.push(report),
    ...options,
  })
  onTestFinished(stop)
  return reports
}

describeLibraries((stage) => {
  const key = ['guarded', stage.name] as const
  let slow: HttpServer
  beforeAll(() => {
    slow = createServer((_, response) => void setTimeout(() => response.end('late'), 30)).listen(
      0,
      '127.0.0.1',
    )
  })
  afterAll(() => void slow.close())

  /** Gives how long it took. */
  const fetchSlowly = async (): Promise<number> => {
    const began = performance.now()
    const { port } = slow.address() as AddressInfo
    await (await fetch(`http://127.0.0.1:${port}/`)).text()
    return performance.now() - began
  }

  test('a fetch inside of a lock is told with its line, and with the time that was not the database', async () => {
    const reports = guarded()
    let [line, fetchedMs] = [0, 0]
    await stage.way.locks.transaction(async (tx) => {
      line = lineHere() + 1
      await stage.way.locks.lock(tx, key)
      fetchedMs = await fetchSlowly()
      await stage.way.run(tx, sleeps[stage.name] ?? '')
    }, once)
    const report = reports.find(({ isHeld }) => !isHeld)
    expect(report).toMatchObject({ level: 'broken', lock: { key }, place: { line } })
    expect(report?.place?.file).toBe('test/watch/guard.test.ts')
    const { heldMs = 0, databaseMs = 0 } = report ?? {}
    expect(heldMs - databaseMs).toBeGreaterThanOrEqual(fetchedMs - 1)
    expect(databaseMs).toBeGreaterThanOrEqual(49)
    expect(report?.statement).toBe(sleeps[stage.name])
    expect(report?.message).toContain(`of it outside the database; taken at test/watch/guard.test.ts:${line}`)
  })

  test.each(['update stock set n = 0 where id = 1', 'select n from stock where id = 1 for update'])(
    'a lock that the work takes by itself is told: %s',
    async (text) => {
      const reports = guarded()
      let [line, fetchedMs] = [0, 0]
      await stage.way.locks.transaction(async (tx) => {
        line = lineHere() + 1
        await stage.way.run(tx, text)
        fetchedMs = await fetchSlowly()
      }, once)
      const report = reports.find(({ isHeld }) => !isHeld)
      expect(report).toMatchObject({ lock: { kind: 'rows', table: 'stock' }, statement: text })
      expect(reports.filter(({ isHeld }) => !isHeld)).toHaveLength(1)
      // postgres.js sends it when the caller is not on the stack any more: then it is the place of the transaction
      const own = { file: 'test/watch/guard.test.ts', lines: [line, line - 2] }
      const { file, line: told } = report?.place ?? {}
      expect(file === own.file ? own.lines.includes(Number(told)) : file).toBe(
        file === own.file ? true : 'test/deadlocks/ways.ts',
      )
      const { heldMs = 0, databaseMs = 0 } = report ?? {}
      expect(heldMs - databaseMs).toBeGreaterThanOrEqual(fetchedMs - 1)
    },
  )

  test('of two that the work takes at once, one is told of, and its end', async () => {
    const reports = guarded()
    await stage.way.locks.transaction(async (tx) => {
      await Promise.all([stage.way.run(tx, change('stock', 0)), stage.way.run(tx, change('orders', 0))])
      await fetchSlowly()
    }, once)
    expect(reports.filter(({ isHeld }) => !isHeld)).toHaveLength(1)
  })

  test('a transaction that only reads holds nothing', async () => {
    const reports = guarded()
    await stage.way.locks.transaction(async (tx) => {
      await stage.way.run(tx, 'select n from stock where id = 1')
      await fetchSlowly()
    }, once)
    expect(reports).toEqual([])
  })

  test('the same fetch behind the transaction is not told', async () => {
    const reports = guarded({ brokenMs: 60_000 })
    await stage.way.locks.withLock(key, async () => {})
    await fetchSlowly()
    expect(reports).toEqual([])
  })

  test('a lock that is still held is told of then, and again at its end', async () => {
    const reports = guarded()
    await stage.way.locks.withLock(key, () => until(() => reports.length > 0, 'a report'))
    expect(reports.map(({ isHeld }) => isHeld)).toEqual([true, false])
  })

  test('one that has ended while others were asked is not told as held', async () => {
    const [asked, ended] = [gate(), gate()]
    const inspect: Locks<unknown>['inspect'] = async (options) => {
      asked.open()
      await ended.opened
      return stage.way.locks.inspect(options)
    }
    const reports = guarded({ locks: { inspect } })
    await stage.way.locks.withLock(key, () => asked.opened)
    ended.open()
    await stage.way.locks.inspect()
    await until(() => reports.length > 0, 'a report')
    expect(reports.map(({ isHeld }) => isHeld)).toEqual([false])
  })

  test('a report that cannot be handled, now or later, ends nothing', async () => {
    const warnings: string[] = []
    const warned = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    guarded({ onHold: (() => Promise.reject(new Error('later'))) as () => void })
    await stage.way.locks.withLock(key, () => until(() => warnings.length > 0, 'a warning'))
    expect(warnings[0]).toContain('onHold has failed: Error: later')
  })

  test('both limits are told of, each once, and off is off', async () => {
    const reports = guarded({ suspectMs: 1, brokenMs: 2 })
    await stage.way.locks.withLock(key, () => until(() => reports.length > 1, 'two reports'))
    expect(reports.map(({ level, isHeld }) => `${level} ${isHeld}`)).toEqual([
      'suspect true',
      'broken true',
      'broken false',
    ])
    const none = guarded({ brokenMs: 'off' })
    await stage.way.locks.withLock(key, () => fetchSlowly())
    expect(none).toEqual([])
  })

  test('of several locks the first one is told of, once', async () => {
    const reports = guarded()
    await stage.way.locks.transaction(async (tx) => {
      await stage.way.locks.lock(tx, key)
      await stage.way.locks.lock(tx, [...key, 2])
      await until(() => reports.length > 0, 'a report')
    }, once)
    expect(reports.map(({ lock }) => lock.key)).toEqual([key, key])
  })

  test('it can make the transaction reject, which is then rolled back', async () => {
    await stage.way.locks.transaction((tx) => stage.way.run(tx, change('stock', 0)))
    const stop = guardHolds({ suspectMs: 'off', brokenMs: 1, onHold: 'throw' })
    onTestFinished(stop.stop)
    const error = await caught(
      stage.way.locks.transaction(async (tx) => {
        await stage.way.locks.lock(tx, key)
        await stage.way.run(tx, change('stock', 9))
        await fetchSlowly()
      }, once),
    )
    expect(error).toBeInstanceOf(LockUsageError)
    expect(error).toMatchObject({ field: 'guard', isStored: false })
    expect(String(error)).toContain('is still held after')
    stop.stop()
    const session = await stage.engine.open()
    expect(await run(session, 'select n from stock where id = 1')).toEqual([{ n: 0 }])
    await session.close()
  })

  test('it says how many wait for a row', async () => {
    const reports = guarded()
    const rival = await stage.rival()
    let writing: Promise<unknown> | undefined
    await stage.way.locks.transaction(async (tx) => {
      await rows('stock')(stage.way, tx, '')
      await until(() => reports.length > 0, 'a report')
      writing = run(rival, change('stock', 0))
      // a query of Kysely's does not say its table
      const expected = lockOf(reports).table === undefined ? undefined : 1
      await until(() => stage.engine.isWaiting(rival), 'the rival waiting')
      await until(
        async () => (await waitersFor(stage.way.locks, lockOf(reports))) === expected,
        `${expected} that wait`,
      )
    }, once)
    await writing
    expect(lockOf(reports)).toMatchObject({ kind: 'rows' })
  })

  test('it says how many wait for a name', async () => {
    const reports = guarded()
    const [granted, free] = [gate(), gate()]
    const holding = stage.way.locks.withLock(key, async () => {
      granted.open()
      await until(() => reports.length > 0, 'a report')
      await free.opened
    })
    await granted.opened
    const waiting = stage.way.locks.withLock(key, async () => {})
    await until(() => reports.length > 0, 'a report')
    await until(async () => (await waitersFor(stage.way.locks, lockOf(reports))) === 1, 'one that waits')
    free.open()
    await Promise.all([holding, waiting])
    expect(await waitersFor(stage.way.locks, lockOf(reports))).toBe(0)
  })
})

function lockOf([report]: readonly HoldReport[]): LockEvent {
  if (report === undefined) throw new Error('nothing was told')
  return report.lock
}

test('what is wrong is refused', () => {
  expect(() => guardHolds({ suspectMs: -1 })).toThrow(LockUsageError)
  expect(() => guardHolds({ onHold: 'loud' as 'warn' })).toThrow("onHold: is 'warn', 'throw' or a function")
  expect(() => guardHolds({ locks: {} as never })).toThrow('locks: has no inspect')
  expect(() => guardHolds({ locks: null as never })).toThrow('locks: has no inspect')
  expect(() => guardHolds({ brokenMS: 1 } as never)).toThrow(LockUsageError)
})
