import { expect, test } from 'vitest'

import { LockError, LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import { until } from '../engines/use.ts'
import { caught, describeEntries, gate, type Stage } from './stage.ts'
import { counterOf } from './subject.ts'

// On SQLite the transaction itself is the lock: its specs are in a file of their own.
describeEntries(specs, ['better-sqlite3'])

function specs(stage: Stage): void {
  const target = counterOf(stage.name)

  /** A transaction that has done `first` and stays open until it is told to end. */
  async function open(
    first: (tx: unknown) => Promise<unknown>,
  ): Promise<{ readonly end: () => Promise<void> }> {
    const [began, ending] = [gate(), gate()]
    const ended = stage.entry.locks.transaction(async (tx) => {
      await first(tx)
      began.open()
      await ending.opened
    })
    await Promise.race([began.opened, ended])
    return {
      end: () => {
        ending.open()
        return ended
      },
    }
  }
  const hold = (tx: unknown): Promise<unknown> => stage.entry.locks.rows(tx, target)

  test('gives the rows and a receipt that tells what was taken', async () => {
    const { locks } = stage.entry
    const n = await stage.seen()
    const rows = await locks.transaction((tx) => locks.rows<{ n: number }>(tx, target))
    expect(rows.map((row) => row.n)).toEqual([n])
    expect(rows.receipt).toMatchObject({
      dialect: stage.name,
      category: 'row-exclusive',
      granted: 'exclusive',
    })
    expect(rows.receipt.statements.length).toBeGreaterThan(0)
    expect(rows.receipt.waitedMs).toBeGreaterThanOrEqual(0)
  })

  test('a second transaction that does not want to wait is refused while the first has the row', async () => {
    const { locks } = stage.entry
    const holder = await open(hold)
    const refused = await caught(locks.transaction((tx) => locks.rows(tx, target, { wait: 'nowait' })))
    await holder.end()
    expect(refused).toBeInstanceOf(LockNotAvailableError)
    const { cause } = refused as LockNotAvailableError
    expect(cause).toBeInstanceOf(Error)
    expect(cause).not.toBeInstanceOf(LockError)
    await locks.transaction((tx) => locks.rows(tx, target, { wait: 'nowait' }))
  })

  test('a first transaction that only reads keeps nobody out', async () => {
    const { locks, read } = stage.entry
    const reader = await open(read)
    await locks.transaction((tx) => locks.rows(tx, target, { wait: 'nowait' }))
    await reader.end()
  })

  test('a second transaction waits no longer than was asked', async () => {
    const { locks } = stage.entry
    const holder = await open(hold)
    const began = performance.now()
    const refused = await caught(
      locks.transaction((tx) => locks.rows(tx, target, { wait: { timeoutMs: 1000 } })),
    )
    const waitedMs = performance.now() - began
    await holder.end()
    expect(refused).toBeInstanceOf(LockTimeoutError)
    const { cause } = refused as LockTimeoutError
    expect(cause).toBeInstanceOf(Error)
    expect(cause).not.toBeInstanceOf(LockError)
    expect(waitedMs).toBeGreaterThan(900)
  })

  test('a second transaction that waits sees what the first has stored', async () => {
    const { increment } = stage.entry
    const before = await stage.seen()
    const holder = await open(async (tx) => {
      await hold(tx)
      await increment(tx)
    })
    const waiting = startWaiting()
    await waiting.isWaiting()
    await holder.end()
    expect(await waiting.ended).toBe(before + 1)
  })

  test('a wait that is aborted leaves nothing on the server, and a pool that works', async () => {
    const { locks, increment } = stage.entry
    const holder = await open(hold)
    const controller = new AbortController()
    const reason = new Error('changed my mind')
    const waiting = startWaiting(controller.signal)
    await waiting.isWaiting()
    controller.abort(reason)
    expect(await caught(waiting.ended)).toBe(reason)
    if (stage.engine.canObserveWaiting)
      await until(async () => !(await waiting.isOnServer()), 'the end of the wait')
    await holder.end()
    await Promise.all([locks.transaction(increment), locks.transaction(increment)])
  })

  /** Starts a transaction that wants the row, and tells how to see that it waits. */
  function startWaiting(signal?: AbortSignal): {
    readonly ended: Promise<number>
    readonly isWaiting: () => Promise<void>
    readonly isOnServer: () => Promise<boolean>
  } {
    const { locks, idOf } = stage.entry
    let id: string | undefined
    let retries = 0
    const ended = locks.transaction(
      async (tx) => {
        id = await idOf?.(tx)
        const [row] = await locks.rows<{ n: number }>(tx, target)
        return row?.n ?? Number.NaN
      },
      { ...(signal && { signal }), onRetry: () => void (retries += 1) },
    )
    ended.catch(() => {})
    const isOnServer = async (): Promise<boolean> => {
      if (id === undefined) return false
      const observer = await stage.engine.open()
      return stage.engine.isWaiting({ ...observer, id }).finally(() => observer.close())
    }
    // where the engine does not wait by itself, the transaction is repeated
    const isWaiting = (): Promise<void> =>
      until(async () => retries > 1 || (await isOnServer()), 'a wait for the row')
    return { ended, isWaiting, isOnServer }
  }
}
