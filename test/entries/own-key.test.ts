import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import type { LockKey } from '../../src/core/key.ts'
import { rawInt32PairKey } from '../../src/core/raw-key.ts'
import { createLocks, type Locks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'

type PgLocks = Locks<pg.PoolClient, 'postgres'>

interface Call {
  readonly locks: PgLocks
  readonly key: LockKey
  /** Makes another one of it. */
  readonly turn: () => void
  readonly work: () => Promise<void>
}

/** Each changes the key right after its call. */
const calls: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
  withLock: ({ locks, key, turn, work }) => change(turn, locks.withLock(key, work)),
  withLocks: ({ locks, key, turn, work }) => change(turn, locks.withLocks([key, 'another'], work)),
  tryLock: ({ locks, key, turn, work }) => change(turn, locks.tryLock(key, work)),
  lock: ({ locks, key, turn, work }) =>
    locks.transaction(async (tx) => {
      await change(turn, locks.lock(tx, key))
      await work()
    }),
  acquire: async ({ locks, key, turn, work }) => {
    const held = await change(turn, locks.acquire(key))
    await work().finally(() => held.release())
  },
  batch: ({ locks, key, turn }) => change(turn, locks.batch(key, [{ sql: 'SELECT 1' }])),
}

function change<T>(turn: () => void, asked: Promise<T>): Promise<T> {
  turn()
  return asked
}

/** A key that can be changed, and the same again. */
interface Changing {
  readonly key: LockKey
  readonly turn: () => void
  readonly same: LockKey
}

const makers: readonly (readonly [string, (name: string) => Changing])[] = [
  [
    'a list',
    (name) => {
      const key: [string, number] = [name, 1]
      return { key, turn: () => void (key[1] = 2), same: [name, 1] }
    },
  ],
  [
    'a pair of numbers',
    (name) => {
      const values: [number, number] = [name.length, 1]
      return {
        key: { raw: 'int32-pair', values },
        turn: () => void (values[1] = 2),
        same: rawInt32PairKey(name.length, 1),
      }
    },
  ],
]

const cases = makers.flatMap(([what, make]) => Object.keys(calls).map((name) => ({ what, name, make })))

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

    test.each(cases)(
      'a key that is $what and is changed right after the call of $name names the lock that it did, and the next call too',
      async ({ name, make }) => {
        const { key, turn, same } = make(name)
        const [locks, rival] = apps
        if (locks === undefined || rival === undefined) throw new Error('nobody is there')
        const isFree = async (): Promise<boolean> => (await rival.tryLock(same, async () => {})).acquired
        const seen: boolean[] = []
        const work = async (): Promise<void> => void seen.push(await isFree())
        await calls[name]?.({ locks, key, turn, work })
        // what was planned for the changed one is not kept for this one
        await locks.withLock(same, work)
        expect(seen).toEqual(name === 'batch' ? [false] : [false, false])
        expect(await isFree()).toBe(true)
      },
    )
  },
  { only: ['postgres'] },
)
