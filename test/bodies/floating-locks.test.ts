import { describe, expect, test } from 'vitest'

import { LockError, LockLostError, LockUsageError, RetryableTransactionError } from '../../src/core/errors.ts'
import { caught, describeEntries } from '../entries/stage.ts'
import { describeClients, jobs, type Client } from './client.ts'

const change = 'update item set n = n + 1 where id = 2'

describe('work that does not wait for locks.once', () => {
  describeEntries((stage) => {
    test('has done it all when the call ends, and what it began in there, too', async () => {
      const { locks, increment } = stage.entry
      const before = await stage.seen()
      await locks.transaction(async (tx) => {
        const inner = async (): Promise<void> => {
          await increment(tx)
          void locks.once(tx, 'innermost', () => increment(tx))
        }
        void caught(locks.once(tx, 'outermost', inner))
      })
      expect(await stage.seen()).toBe(before + 2)
    })

    test('fails with what its work throws, and nothing is stored', async () => {
      const { locks, increment } = stage.entry
      const before = await stage.seen()
      const mistake = new Error('a mistake')
      const call = locks.transaction(async (tx) => {
        await increment(tx)
        void caught(locks.once(tx, 'mistaken', () => Promise.reject(mistake)))
      })
      expect(await caught(call)).toMatchObject({ name: 'LockUsageError', cause: mistake })
      expect(await stage.seen()).toBe(before)
      const again = await locks.transaction((tx) => locks.once(tx, 'mistaken', () => increment(tx)))
      expect(again.isFirst).toBe(true)
    })
  })
})

describeClients((scene) => {
  test('locks that the work does not wait for are taken before COMMIT, and a refusal of one fails the transaction', async () => {
    const [client, rival] = [scene.connect(1), scene.connect(1)]
    await rival.locks.transaction(async (held) => {
      await rival.lockItem(held, 1)
      const call = client.locks.transaction(async (tx) => {
        // the second waits for its turn behind the first
        void caught(client.lockItem(tx, 2))
        void caught(client.lockItem(tx, 1, { wait: 'nowait' }))
      })
      expect(await caught(call)).toBeInstanceOf(LockError)
    })
    await client.locks.transaction((tx) => client.lockItem(tx, 1, { wait: 'nowait' }))
  })

  test('named locks that the work does not wait for are not left on the connection when it throws', async () => {
    const [client, other] = [scene.connect(1), scene.connect(1)]
    const keys = Array.from({ length: 6 }, (_, index) => `left-${index}`)
    const mistake = new Error('a mistake')
    const taking: Promise<unknown>[] = []
    const work = async (tx: unknown): Promise<never> => {
      const lock = async (key: string): Promise<void> => {
        await client.query(tx, change)
        await client.locks.lock(tx, key)
      }
      for (const key of keys) taking.push(caught(lock(key)))
      await client.query(tx, change)
      throw mistake
    }
    // nothing has to be asked first, so that a lock is asked for right behind ROLLBACK
    const call = client.locks.withLock('first', work, { isolation: 'read committed' })
    expect(await caught(call)).toBe(mistake)
    await Promise.all(taking)
    for (const key of keys) await other.locks.withLock(key, async () => {}, { wait: 'nowait' })
  })

  const counted = async (client: Client): Promise<unknown> =>
    (await client.query(undefined, 'select n from item where id = 2'))[0]?.n
  const stale = { table: 'item', key: { id: 1 }, version: 'n', expected: 99, set: {} }

  test('a conflict that it does not wait for fails the transaction, which is run again', async () => {
    const client = scene.connect(1)
    let runs = 0
    const work = async (tx: unknown): Promise<void> => {
      runs += 1
      await client.query(tx, change)
      void caught(client.locks.updateVersioned(tx, stale))
    }
    const said = await caught(client.locks.transaction(work, { attempts: 2, backoff: { baseMs: 1 } }))
    expect(said).toBeInstanceOf(LockUsageError)
    expect((said as Error).cause).toBeInstanceOf(RetryableTransactionError)
    expect(runs).toBe(2)
    expect(await counted(client)).toBe(0)
  })

  test('a conflict that it has caught leaves the transaction as it is', async () => {
    const client = scene.connect(1)
    await client.locks.transaction(async (tx) => {
      await client.query(tx, change)
      expect(await caught(client.locks.updateVersioned(tx, stale))).toBeInstanceOf(RetryableTransactionError)
    })
    expect(await counted(client)).toBe(1)
  })

  test('a job that is no longer its own, and that it does not wait to end, fails the transaction', async () => {
    const client = scene.connect(2)
    const [job] = await client.locks.claim(jobs)
    await job?.complete()
    const call = client.locks.transaction(async (tx) => {
      await client.query(tx, change)
      void caught(job?.complete({ tx }) ?? expect.unreachable())
    })
    const said = await caught(call)
    expect((said as Error).cause).toBeInstanceOf(LockLostError)
    expect(await counted(client)).toBe(0)
  })

  test('work under a lock that it joins and does not wait for is done before COMMIT', async () => {
    const client = scene.connect(1)
    const join = { nested: 'join' } as const
    await client.locks.transaction(
      async (tx) => {
        const twice = async (): Promise<void> => {
          await client.query(tx, change)
          await client.query(tx, change)
        }
        void caught(client.locks.withLock('joined', twice, join))
        void caught(client.locks.transaction(twice, join))
      },
      { isolation: 'read committed' },
    )
    expect(await counted(client)).toBe(4)
  })
})
