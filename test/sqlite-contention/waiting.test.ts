import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/better-sqlite3.ts'
import type { Locks } from '../../src/locks.ts'

let folder = ''
let file = ''
/** Somebody else's connection: to the library it is the same as another process. */
let other: Database.Database
let handle: Database.Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-waiting-'))
  file = join(folder, 'db')
  other = new Database(file, { timeout: 0 })
  other.pragma('journal_mode = wal')
  other.exec('create table counter (n integer not null); insert into counter values (0)')
  handle = new Database(file, { timeout: 4321 })
})

afterEach(() => {
  handle.close()
  other.close()
  rmSync(folder, { recursive: true, force: true })
})

const sources = { 'a handle for each': () => () => new Database(file), 'one handle for all': () => handle }

describe.each(Object.keys(sources) as (keyof typeof sources)[])('%s', (name) => {
  let locks: Locks<Database.Database, 'sqlite'>
  beforeEach(async () => {
    locks = createLocks(sources[name]())
    await locks.transaction(async () => {})
  })

  test('a lock timeout ends the wait for another process, and not before', async () => {
    other.exec('begin immediate')
    const tookMs = await timed(() => refusedWith(LockTimeoutError, { lockTimeoutMs: 200 }))
    expect(tookMs).toBeGreaterThanOrEqual(200)
    other.exec('rollback')
    await increment()
    expect(counted()).toBe(1)
  })

  test('a lock timeout ends the wait in the line of this process, and not before', async () => {
    const { end, ended } = await holdTurn()
    const tookMs = await timed(() => refusedWith(LockTimeoutError, { lockTimeoutMs: 200 }))
    expect(tookMs).toBeGreaterThanOrEqual(200)
    end()
    await ended
  })

  test('an abort leaves the line of this process at once, and those behind keep their order', async () => {
    const { end, ended } = await holdTurn()
    const leaving = new AbortController()
    const order: string[] = []
    const first = increment(() => order.push('first'))
    const left = increment(() => order.push('left'), { signal: leaving.signal })
    const last = increment(() => order.push('last'))
    const reason = new Error('no longer wanted')
    leaving.abort(reason)
    await expect(left).rejects.toBe(reason)
    expect(order).toEqual([])
    end()
    await Promise.all([ended, first, last])
    expect(order).toEqual(['first', 'last'])
    expect(counted()).toBe(3)
  })

  test('an abort ends the wait for another process, which still has the lock', async () => {
    other.exec('begin immediate')
    const leaving = new AbortController()
    const waiting = increment(() => {}, { signal: leaving.signal })
    // the loop goes round while it waits: this timer fires although the lock stays held
    setTimeout(() => leaving.abort(new Error('no longer wanted')), 50)
    await expect(waiting).rejects.toThrow('no longer wanted')
    other.exec('rollback')
    await increment()
    expect(counted()).toBe(1)
  })

  test('a long line of one process leaves the event loop a round before each turn', async () => {
    let round = 0
    const count = (): void => {
      round += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const roundOfEach: number[] = []
    await Promise.all(Array.from({ length: 300 }, () => increment(() => roundOfEach.push(round))))
    clearImmediate(counting)
    expect(counted()).toBe(300)
    expect(new Set(roundOfEach).size).toBe(300)
  })

  test('a read before the write cannot be overtaken, as it is after a plain BEGIN', async () => {
    await locks.transaction(async (tx) => {
      tx.prepare('select n from counter').get()
      expect(() => other.exec('update counter set n = 7')).toThrow(/locked/)
      tx.exec('update counter set n = n + 1')
    })
    expect(counted()).toBe(1)
    handle.exec('begin')
    handle.prepare('select n from counter').get()
    other.exec('update counter set n = 7')
    expect(() => handle.exec('update counter set n = 2')).toThrow(
      expect.objectContaining({ code: 'SQLITE_BUSY_SNAPSHOT' }),
    )
    handle.exec('rollback')
  })

  test('busy_timeout of the application is as it was, after success, timeout and error', async () => {
    await increment()
    other.exec('begin immediate')
    await refusedWith(LockTimeoutError, { lockTimeoutMs: 20 })
    other.exec('rollback')
    await expect(increment(() => expect.unreachable('the work fails'))).rejects.toThrow('the work fails')
    expect(handle.pragma('busy_timeout', { simple: true })).toBe(4321)
  })

  function increment(
    note: () => void = () => {},
    options: { lockTimeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<void> {
    return locks.transaction(async (tx) => {
      note()
      tx.exec('update counter set n = n + 1')
    }, options)
  }

  function refusedWith(error: typeof LockTimeoutError, options: { lockTimeoutMs: number }): Promise<void> {
    return expect(increment(() => {}, options)).rejects.toBeInstanceOf(error)
  }

  /** A transaction of this process that stays open until it is told to end. */
  async function holdTurn(): Promise<{ readonly end: () => void; readonly ended: Promise<void> }> {
    let end = (): void => {}
    const untilToldToEnd = new Promise<void>((resolve) => (end = resolve))
    let ended = Promise.resolve()
    await new Promise<void>((begun) => {
      ended = locks.transaction(async (tx) => {
        tx.exec('update counter set n = n + 1')
        begun()
        await untilToldToEnd
      })
    })
    return { end, ended }
  }
})

function counted(): number {
  return (other.prepare('select n from counter').get() as { n: number }).n
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
