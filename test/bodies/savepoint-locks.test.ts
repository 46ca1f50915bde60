import { expect, test } from 'vitest'

import { LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, type Client } from './client.ts'

const set = 'savepoint a'
const goBack = 'rollback to savepoint a'
const join = { nested: 'join', reentry: 'join' } as const

describeClients((scene) => {
  const key = `savepoint ${scene.name} ${scene.title}`
  const isFree = async (other: Client): Promise<boolean> =>
    (await other.locks.tryLock(key, async () => {})).acquired
  const both = (): readonly [Client, Client] => [scene.connect(2), scene.connect(1)]
  const run = <T>(client: Client, work: (tx: unknown) => Promise<T>): Promise<T> =>
    client.locks.transaction(work, { isolation: 'read committed' })

  test('a lock that is told to be held after a return to a savepoint is held', async () => {
    const [client, other] = both()
    await run(client, async (tx) => {
      await client.query(tx, set)
      await client.locks.lock(tx, key)
      await client.query(tx, goBack)
      await client.locks.lock(tx, key, { reentry: 'join' })
      expect(await isFree(other)).toBe(false)
    })
    expect(await isFree(other)).toBe(true)
  })

  test('work that joins a lock after a return to a savepoint is alone in it', async () => {
    const [client, other] = both()
    await run(client, async (tx) => {
      await client.query(tx, set)
      await client.locks.withLock(key, async () => {}, join)
      await client.query(tx, goBack)
      await client.locks.withLock(key, async () => expect(await isFree(other)).toBe(false), join)
    })
  })

  test('a lock that is asked for while the work goes back to a savepoint is held', async () => {
    const [client, other] = both()
    await run(client, async (tx) => {
      await client.query(tx, set)
      await Promise.all([client.locks.lock(tx, key), client.query(tx, goBack)])
      expect(await isFree(other)).toBe(false)
    })
  })

  test('a lock from before the savepoint is still known, and so is one from behind one that was released', async () => {
    const [client] = both()
    await run(client, async (tx) => {
      await client.query(tx, 'savepoint b')
      await client.query(tx, 'release savepoint b')
      await client.locks.lock(tx, key)
      await client.query(tx, 'savepoint b')
      await client.query(tx, 'rollback to b')
      expect(await caught(client.locks.lock(tx, key))).toBeInstanceOf(LockUsageError)
    })
  })

  test('an acquire of the same key by whoever may hold it is refused, and does not wait for itself', async () => {
    const [client] = both()
    await run(client, async (tx) => {
      await client.query(tx, set)
      await client.locks.lock(tx, key)
      await client.query(tx, goBack)
      expect(await caught(client.locks.acquire(key))).toBeInstanceOf(LockUsageError)
    })
  })

  test('the signal of a lock tells whether the work has given it up', async () => {
    const [client, other] = both()
    await run(client, async (tx) => {
      await client.query(tx, set)
      await client.locks.withLock(
        key,
        async (_, held) => {
          const { signal } = held
          await client.query(tx, 'savepoint b')
          await client.query(tx, 'rollback to savepoint b')
          expect(signal.aborted).toBe(false)
          await client.query(tx, goBack)
          expect(signal.aborted).toBe(await isFree(other))
        },
        join,
      )
    })
  })

  test.for([
    { title: 'at the beginning', before: [], isGivenUp: true },
    { title: 'later', before: ['select * from item'], isGivenUp: scene.name === 'postgres' },
  ])(
    'whether rows are given up with a savepoint that was set $title is as the page says',
    async ({ before, isGivenUp }) => {
      const [client, other] = both()
      const isRowFree = async (): Promise<boolean> => {
        const row = run(other, (tx) => other.lockItem(tx, 1, { wait: 'nowait' }))
        return !((await row.catch((error: unknown) => error)) instanceof LockNotAvailableError)
      }
      await run(client, async (tx) => {
        for (const text of [...before, set]) await client.query(tx, text)
        await client.lockItem(tx, 1)
        expect(await isRowFree()).toBe(false)
        await client.query(tx, goBack)
        expect(await isRowFree()).toBe(isGivenUp)
      })
    },
  )

  // the drivers of the others send one statement at a time
  test.runIf(scene.name === 'postgres')(
    'a return that is hidden among several statements counts',
    async () => {
      const [client, other] = both()
      await run(client, async (tx) => {
        await client.query(tx, 'select 1; savepoint "A b"')
        await client.locks.lock(tx, key)
        await client.query(tx, 'select 2; rollback to savepoint "A b"')
        await client.locks.lock(tx, key)
        expect(await isFree(other)).toBe(false)
      })
    },
  )
})
