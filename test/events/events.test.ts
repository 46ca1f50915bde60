import { expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import type { LockEvent, TransactionEvent } from '../../src/events/shapes.ts'
import { gate } from '../entries/stage.ts'
import { caught, describePatterns } from '../patterns/stage.ts'
import { listen, toldOn } from './listen.ts'

const account = { table: 'account', key: { id: 1 } }

describePatterns(
  (stage) => {
    const { name: dialect } = stage
    const key = ['events', dialect, 1] as const

    test('a transaction with a lock is told from the call to its end, in this order', async () => {
      const { shared } = stage.node().meeting
      const told = listen()
      await shared.withLock(key, async () => 'done')
      expect(told.map(({ on }) => on)).toEqual([
        'lock:start',
        'lock:end',
        'transaction:start',
        'transaction:end',
        'lock:asyncStart',
        'lock:asyncEnd',
        'lock:ended',
        'transaction:asyncStart',
        'transaction:asyncEnd',
      ])
      const [lock] = toldOn(told, 'lock:ended') as unknown as readonly LockEvent[]
      expect(lock).toMatchObject({ kind: 'named', key, mode: 'exclusive', dialect, outcome: 'granted' })
      expect(lock?.adapter).not.toBe('custom')
      expect(lock?.waitedMs).toBeGreaterThanOrEqual(0)
      expect(lock?.heldMs).toBeGreaterThan(0)
      const [done] = toldOn(told, 'transaction:asyncEnd')
      expect(done).toMatchObject({ keys: [key], attempts: 1, outcome: 'committed', dialect })
      expect(lock?.transaction).toMatchObject({ keys: [key], attempts: 1 })
    })

    test('rows name their table and the transaction that has them', async () => {
      const node = stage.node()
      const told = listen()
      await node.meeting.shared.transaction((tx) => node.rows(tx, account))
      const [asked] = toldOn(told, 'lock:start')
      expect(asked).toMatchObject({ kind: 'rows', table: 'account', mode: 'exclusive', wait: 'block' })
      const [ended] = toldOn(told, 'lock:ended') as unknown as readonly LockEvent[]
      const [done] = toldOn(told, 'transaction:asyncEnd') as unknown as readonly TransactionEvent[]
      expect(ended?.transaction).toMatchObject({ keys: [], attempts: done?.attempts })
    })

    test('one that throws is rolled back, and says what it threw', async () => {
      const { shared } = stage.node().meeting
      const told = listen()
      const error = new Error('no')
      await caught(shared.transaction(() => Promise.reject(error)))
      expect(toldOn(told, 'transaction:error')).toMatchObject([{ error, outcome: 'rolled back' }])
      expect(toldOn(told, 'transaction:asyncEnd')).toMatchObject([{ errorKind: 'other' }])
    })

    /** Holds the lock, in a chain of calls of its own, until what is given back is called. */
    const holding = async (): Promise<() => Promise<void>> => {
      const [granted, free] = [gate(), gate()]
      const held = stage.node().meeting.shared.withLock(key, () => {
        granted.open()
        return free.opened
      })
      await granted.opened
      return () => {
        free.open()
        return held
      }
    }

    test('a lock that is refused says so, with the error of the call', async () => {
      const release = await holding()
      const told = listen()
      const trying = stage.node(1).meeting.shared.withLock(key, async () => {}, { wait: 'nowait' })
      const error = await caught(trying)
      expect(error).toBeInstanceOf(LockNotAvailableError)
      const refused = { error, outcome: 'refused', errorKind: 'lock-not-available', key }
      expect(toldOn(told, 'lock:error')).toMatchObject([refused])
      expect(toldOn(told, 'lock:asyncEnd')).toMatchObject([refused])
      expect(toldOn(told, 'lock:ended')).toEqual([])
      // it names the transaction that it was refused to, also on databases where BEGIN is the lock
      const [lost] = toldOn(told, 'lock:error') as unknown as readonly LockEvent[]
      expect(lost?.transaction).toMatchObject({ keys: [key], outcome: 'rolled back' })
      await release()
    })

    test('a lock that is held until it is released is told until then', async () => {
      const { shared } = stage.node().meeting
      const told = listen()
      const held = await shared.acquire(key)
      expect(toldOn(told, 'lock:asyncEnd')).toMatchObject([
        { kind: 'session', key, outcome: 'granted', dialect },
      ])
      expect(toldOn(told, 'lock:ended', 'lease:start')).toEqual([])
      await held.release()
      expect(toldOn(told, 'lock:ended')).toMatchObject([{ key, isLost: false }])
    })

    test('a lease is told with its fence, and that another has it', async () => {
      const { shared } = stage.node().meeting
      const told = listen()
      const lease = await shared.lease(key)
      const { fence } = lease
      expect(toldOn(told, 'lease:asyncEnd')).toMatchObject([
        { key, fence, outcome: 'granted', dialect, ttlMs: 30_000 },
      ])
      const error = await caught(stage.node(1).meeting.shared.lease(key, { wait: { timeoutMs: 50 } }))
      expect(error).toBeInstanceOf(LockTimeoutError)
      expect(toldOn(told, 'lease:error')).toMatchObject([{ error, errorKind: 'lock-timeout' }])
      await lease.release()
      expect(toldOn(told, 'lease:ended')).toMatchObject([{ key, fence, isLost: false }])
      expect(toldOn(told, 'lock:start')).toEqual([])
    })

    test.runIf(dialect === 'postgres')(
      'a transaction that is run again asks again for its locks, and says how often',
      async () => {
        const node = stage.node()
        const told = listen()
        let runs = 0
        await node.meeting.shared.withLock(key, async (tx) => {
          runs += 1
          const sql = `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`
          if (runs === 1) await node.run(tx, { sql, params: [] })
        })
        expect(toldOn(told, 'lock:start')).toMatchObject([{ key }, { key, first: { key } }])
        expect(toldOn(told, 'lock:ended')).toHaveLength(2)
        const retries = toldOn(told, 'transaction:retry')
        expect(retries).toMatchObject([{ errorKind: 'serialization', transaction: { keys: [key] } }])
        expect(retries[0]?.pauseMs).toBeGreaterThanOrEqual(0)
        expect(toldOn(told, 'transaction:asyncEnd')).toMatchObject([{ attempts: 2, outcome: 'committed' }])
      },
    )

    test('who waits is told of as asked, and as granted only when the lock is free', async () => {
      const told = listen()
      const release = await holding()
      const waiting = stage.node(1).meeting.shared.withLock(key, async () => {})
      expect(toldOn(told, 'lock:start')).toHaveLength(2)
      expect(toldOn(told, 'lock:asyncEnd')).toHaveLength(1)
      await release()
      await waiting
      // the server may grant the second before we have heard that the first has ended
      expect(toldOn(told, 'lock:asyncEnd').map(({ outcome }) => outcome)).toEqual(['granted', 'granted'])
      expect(toldOn(told, 'lock:ended')).toHaveLength(2)
    })
  },
  { nodes: 2 },
)
