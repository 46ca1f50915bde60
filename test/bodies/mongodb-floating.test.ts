import { describe, expect, test } from 'vitest'

import type { MongodbLocks } from '../../src/entries/mongodb.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { mongodbStage, type MongodbStage, type Tx } from './mongodb-stage.ts'

describeEngines(specs, { only: ['mongodb'] })

interface First {
  readonly title: string
  /** The server's name for the command that writes. */
  readonly command: string
  readonly start: (locks: MongodbLocks<Tx>, tx: Tx) => Promise<unknown>
}

/** What a body can begin its transaction with. Each of them leaves a trace when it is stored. */
const firsts = (stage: MongodbStage): readonly First[] => [
  { title: 'a write', command: 'insert', start: (_, tx) => stage.insert(tx, 1) },
  {
    title: 'a write through a Db of the caller',
    command: 'insert',
    start: (_, { session }) => stage.insert({ db: stage.client().db(), session }, 1),
  },
  {
    title: 'rows by a key',
    command: 'update',
    start: (locks, tx) => locks.rows(tx, { table: 'note', key: { _id: 0 } }),
  },
  { title: 'once', command: 'findAndModify', start: (locks, tx) => locks.once(tx, 'float', async () => {}) },
  {
    title: 'updateVersioned',
    command: 'findAndModify',
    start: (locks, tx) =>
      locks.updateVersioned(tx, { table: 'note', key: { _id: 0 }, expected: 1, set: { n: 1 } }),
  },
]

function specs(context: EngineContext): void {
  const stage = mongodbStage(context)
  const { insert, stored, sent, failing } = stage
  const traces = async (): Promise<unknown> => [
    await stage.client().db().collection('note').find().sort({ _id: 1 }).toArray(),
    await stage.client().db().collection('_once').find().toArray(),
  ]

  describe.each(firsts(stage))('$title, as the first of all and not awaited', ({ command, start }) => {
    test('is not stored when the work throws at once', async () => {
      const before = await traces()
      const locks = stage.locks()
      const floating: Promise<unknown>[] = []
      const work = async (tx: Tx): Promise<void> => {
        floating.push(caught(start(locks, tx)))
        throw new Error('thrown by the work')
      }
      for (let round = 0; round < 10; round += 1)
        await expect(locks.transaction(work)).rejects.toThrow('thrown by the work')
      await Promise.all(floating)
      expect(await traces()).toEqual(before)
    })

    test('is not stored when the work throws before it is answered, and keeps nothing locked', async () => {
      const before = await traces()
      const locks = stage.locks()
      let floating: Promise<unknown> | undefined
      const work = async (tx: Tx): Promise<void> => {
        const isSent = sent(command)
        floating = caught(start(locks, tx))
        await isSent
        throw new Error('thrown by the work')
      }
      for (let round = 0; round < 10; round += 1)
        await expect(locks.transaction(work)).rejects.toThrow('thrown by the work')
      await floating
      expect(await traces()).toEqual(before)
      expect(await context.engine.leftovers()).toEqual([])
    })

    test('is stored when the work returns at once', async () => {
      const before = await traces()
      const locks = stage.locks()
      let floating: Promise<unknown> | undefined
      await locks.transaction(async (tx) => {
        floating = start(locks, tx)
        floating.catch(() => {}) // heard of below
      })
      await expect(floating).resolves.not.toThrow()
      expect(await traces()).not.toEqual(before)
    })
  })

  test('what a floating chain of operations does is stored as a whole', async () => {
    let chain: Promise<unknown> | undefined
    await stage.locks().transaction(async (tx) => {
      chain = insert(tx, 1)
        .then(() => insert(tx, 2))
        .then(() => insert(tx, 3))
    })
    await chain
    expect(await stored()).toEqual([0, 1, 2, 3])
  })

  test('a floating operation that fails fails the transaction', async () => {
    const failed = stage.locks().transaction(
      async (tx) => {
        await insert(tx, 1)
        void insert(tx, 0).catch(() => {})
      },
      { attempts: 2, backoff: { baseMs: 1 } },
    )
    await expect(failed).rejects.toThrow()
    expect(await stored()).toEqual([0])
  })

  test('a floating operation whose connection breaks fails the transaction, and it is run again', async () => {
    let runs = 0
    await failing({ failCommands: ['insert'], times: 1, closeConnection: true }, () =>
      stage.locks().transaction(async (tx) => {
        runs += 1
        await tx.db.collection('note').findOne({}, { session: tx.session })
        void insert(tx, runs).catch(() => {})
      }),
    )
    expect(runs).toBe(2)
    expect(await stored()).toEqual([0, 2])
  })

  test('a first operation whose connection breaks is not lost, although it was caught', async () => {
    let runs = 0
    await failing({ failCommands: ['insert'], times: 1, closeConnection: true }, () =>
      stage.locks().transaction(async (tx) => {
        runs += 1
        await insert(tx, runs).catch(() => {})
      }),
    )
    expect(runs).toBe(2)
    expect(await stored()).toEqual([0, 2])
  })

  test('a floating operation that was never sent fails the transaction', async () => {
    const failed = stage.locks().transaction(
      async (tx) => {
        await insert(tx, 1)
        const stop = new AbortController()
        const options = { session: tx.session, signal: stop.signal }
        void tx.db
          .collection('note')
          .findOne({}, options)
          .catch(() => {})
        stop.abort()
      },
      { attempts: 1 },
    )
    await expect(failed).rejects.toMatchObject({ name: 'RetryableTransactionError' })
    expect(await stored()).toEqual([0])
  })

  test('two locks on rows that are the first of all and taken at once are both granted', async () => {
    const locks = stage.locks()
    await insertOutside(1)
    const lock = (tx: Tx, _id: number, by = locks): Promise<readonly object[]> =>
      by.rows(tx, { table: 'note', key: { _id } }, { wait: 'nowait' })
    const rivals = stage.locks()
    let runs = 0
    await locks.transaction(async (tx) => {
      runs += 1
      const both = await Promise.all([lock(tx, 0), lock(tx, 1)])
      expect(both.flat()).toHaveLength(2)
      for (const id of [0, 1]) {
        const rival = rivals.transaction((other) => lock(other, id, rivals))
        await expect(rival).rejects.toMatchObject({ name: 'LockNotAvailableError' })
      }
    })
    expect(runs).toBe(1)
  })

  test('two writes of the work that are the first of all and made at once are both stored', async () => {
    const locks = stage.locks()
    await locks.transaction((tx) => Promise.all([insert(tx, 1), insert(tx, 2)]))
    expect(await stored()).toEqual([0, 1, 2])
    // from then on it is known
    await locks.transaction((tx) => Promise.all([insert(tx, 3), insert(tx, 4)]), { attempts: 1 })
    expect(await stored()).toEqual([0, 1, 2, 3, 4])
  })

  test('two floating writes that are the first of all are both stored, or none of them', async () => {
    const float = (tx: Tx): void => {
      for (const id of [1, 2]) void insert(tx, id).catch(() => {})
    }
    const once = stage.locks().transaction(async (tx) => float(tx), { attempts: 1 })
    await expect(once).rejects.toMatchObject({ name: 'RetryableTransactionError' })
    expect(await stored()).toEqual([0])
    await stage.locks().transaction(async (tx) => float(tx))
    expect(await stored()).toEqual([0, 1, 2])
  })

  const insertOutside = (_id: number): Promise<unknown> =>
    stage.client().db().collection<{ _id: number }>('note').insertOne({ _id })
}
