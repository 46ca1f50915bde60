import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createLocks, type Locks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'

type PgLocks = Locks<pg.PoolClient, 'postgres'>

interface Call {
  readonly locks: PgLocks
  readonly key: [string, number]
  readonly work: () => Promise<void>
}

/** Each changes the key right after its call. */
const calls: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
  withLock: ({ locks, key, work }) => change(key, locks.withLock(key, work)),
  withLocks: ({ locks, key, work }) => change(key, locks.withLocks([key, 'another'], work)),
  tryLock: ({ locks, key, work }) => change(key, locks.tryLock(key, work)),
  lock: ({ locks, key, work }) =>
    locks.transaction(async (tx) => {
      await change(key, locks.lock(tx, key))
      await work()
    }),
  acquire: async ({ locks, key, work }) => {
    const held = await change(key, locks.acquire(key))
    await work().finally(() => held.release())
  },
  batch: ({ locks, key }) => change(key, locks.batch(key, [{ sql: 'SELECT 1' }])),
}

function change<T>(key: [string, number], asked: Promise<T>): Promise<T> {
  key[1] = 2
  return asked
}

describeEngines(
  (context) => {
    const pools: pg.Pool[] = []
    const apps: PgLocks[] = []
    beforeAll(async () => {
      for (let app = 1; app <= 2; app += 1) {
        const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 3 })
        const locks = createLocks(pool)
        // the first call has more to find out, and takes another way
        await locks.batch('first', [{ sql: 'SELECT 1' }])
        pools.push(pool)
        apps.push(locks)
      }
    })
    afterAll(() => Promise.all(pools.map((pool) => pool.end())))

    test.each(Object.keys(calls))(
      'a key that is changed right after the call of %s names the lock that it did, and the next call too',
      async (name) => {
        const [locks, rival] = apps
        if (locks === undefined || rival === undefined) throw new Error('nobody is there')
        const isFree = async (): Promise<boolean> => (await rival.tryLock([name, 1], async () => {})).acquired
        const seen: boolean[] = []
        const work = async (): Promise<void> => void seen.push(await isFree())
        await calls[name]?.({ locks, key: [name, 1], work })
        // what was planned for the changed one is not kept for this one
        await locks.withLock([name, 1], work)
        expect(seen).toEqual(name === 'batch' ? [false] : [false, false])
        expect(await isFree()).toBe(true)
      },
    )
  },
  { only: ['postgres'] },
)
