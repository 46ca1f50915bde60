import { once } from 'node:events'

import type { CommandStartedEvent } from 'mongodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/mongodb.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { mongodbStage, type Tx } from './mongodb-stage.ts'
import { VeiledClient, type Veil } from './mongodb-veiled.ts'

describeEngines(specs, { only: ['mongodb'] })

/** Drivers that ask a session less, or more, than those whose ways are known. */
const others = (client: () => VeiledClient): readonly { title: string; veil: Veil }[] => [
  { title: 'does not ask for the owner', veil: without('owner', () => null) },
  { title: 'does not ask for the client', veil: without('client', client) },
  { title: 'does not ask whether it is pinned', veil: without('isPinned', () => false) },
  { title: 'does not ask whether it is for snapshots', veil: without('snapshotEnabled', () => false) },
  {
    title: 'asks for the owner twice as often',
    veil: (session, name) => {
      if (name === 'owner') Reflect.get(session, name)
      return Reflect.get(session, name)
    },
  },
]

function without(hidden: PropertyKey, answer: () => unknown): Veil {
  return (session, name) => (name === hidden ? answer() : Reflect.get(session, name))
}

function specs(context: EngineContext): void {
  const { insert, stored, sent, client: plain } = mongodbStage(context)
  let client: VeiledClient
  beforeEach(async () => {
    client = new VeiledClient(context.engine.server.url, { monitorCommands: true })
    await client.connect()
  })
  afterEach(() => client.close())

  describe.each(others(() => client))('a driver that $title', ({ veil }) => {
    beforeEach(() => void (client.veil = veil))

    test('is warned of once, with its version', async () => {
      const warned = once(process, 'warning')
      const heard: unknown[] = []
      const hear = ({ name }: Error): unknown => heard.push(name)
      process.on('warning', hear)
      await createLocks(client).transaction((tx) => insert(tx, 1))
      await createLocks(client).transaction((tx) => insert(tx, 2))
      const [warning] = await warned
      process.off('warning', hear)
      expect(warning).toMatchObject({
        name: 'HoldfastWarning',
        message: expect.stringMatching(/^mongodb \d+\.\d+\.\d+ treats/),
      })
      expect(heard).toEqual(['HoldfastWarning'])
    })

    test('stores what the work has left under way and returned', async () => {
      const floating: Promise<unknown>[] = []
      const locks = createLocks(client)
      await locks.withLock('float', async (tx) => {
        floating.push(insert(tx, 1), insert(tx, 2))
        floating.push(locks.rows(tx, { table: 'note', key: { _id: 0 } }))
        floating.push(insert(tx, 3).then(() => insert(tx, 4)))
      })
      await Promise.all(floating)
      expect(await stored()).toEqual([0, 1, 2, 3, 4])
    })

    test('stores nothing of what the work has left under way and thrown', async () => {
      const floating: Promise<unknown>[] = []
      const work = async (tx: Tx): Promise<void> => {
        floating.push(caught(insert(tx, 1)), caught(insert(tx, 2)))
        throw new Error('thrown by the work')
      }
      for (let round = 0; round < 5; round += 1)
        await expect(createLocks(client).transaction(work)).rejects.toThrow('thrown by the work')
      await Promise.all(floating)
      expect(await stored()).toEqual([0])
      expect(await context.engine.leftovers()).toEqual([])
    })

    test('fails the transaction when a floating operation fails', async () => {
      const failed = createLocks(client).transaction(
        async (tx) => {
          await insert(tx, 1)
          void insert(tx, 0).catch(() => {})
        },
        { attempts: 1 },
      )
      await expect(failed).rejects.toMatchObject({ name: 'RetryableTransactionError' })
      expect(await stored()).toEqual([0])
    })

    test('reads through cursors, and leaves none open', async () => {
      const seen = await createLocks(client).transaction(async (tx) => {
        const { db, session } = tx
        for (let id = 1; id < 8; id += 1) await insert(tx, id)
        const notes = db.collection('note')
        const ids: unknown[] = []
        for await (const { _id } of notes.find({}, { session, batchSize: 2 }).sort({ _id: 1 })) ids.push(_id)
        for await (const _ of notes.find({}, { session, batchSize: 2 })) break
        const [count] = await notes.aggregate([{ $count: 'n' }], { session }).toArray()
        return { ids, count }
      })
      expect(seen).toEqual({ ids: [0, 1, 2, 3, 4, 5, 6, 7], count: { n: 8 } })
    })

    test('refuses the session once its transaction is over', async () => {
      let left: Tx | undefined
      await createLocks(client).transaction(async (tx) => void (left = tx))
      if (left === undefined) return expect.unreachable()
      await expect(insert(left, 1)).rejects.toMatchObject({ name: 'MongoExpiredSessionError' })
    })

    test('loses nothing in silence that is under way through another Db', async () => {
      let part: Promise<unknown> | undefined
      const whole = createLocks(client).transaction(
        async (tx) => {
          await insert(tx, 1)
          part = caught(insert({ db: client.db(), session: tx.session }, 2))
        },
        { attempts: 1 },
      )
      const isWhole = await whole.then(
        () => true,
        () => false,
      )
      const isLost = (await part) instanceof Error
      expect(await stored()).toEqual(isWhole ? (isLost ? [0, 1] : [0, 1, 2]) : [0])
    })
  })

  test('a driver that changes its ways later is noticed, and the work is run again', async () => {
    const locks = createLocks(client)
    await locks.transaction((tx) => insert(tx, 1))
    client.veil = without('owner', () => null)
    const warned = once(process, 'warning')
    let runs = 0
    await locks.transaction(async (tx) => {
      runs += 1
      await locks.rows(tx, { table: 'note', key: { _id: 0 } })
      await locks.rows(tx, { table: 'note', key: { _id: 1 } })
      await insert(tx, 2)
    })
    expect(runs).toBe(2)
    expect(await stored()).toEqual([0, 1, 2])
    await warned
  })

  test('the first transaction of a client tries the driver with a command of its own, the others do not', async () => {
    const names: string[] = []
    client.on('commandStarted', ({ commandName }: CommandStartedEvent) => names.push(commandName))
    await createLocks(client).transaction((tx) => insert(tx, 1))
    await createLocks(client).transaction((tx) => insert(tx, 2))
    expect(names.filter((name) => name !== 'buildInfo')).toEqual([
      'find',
      'insert',
      'commitTransaction',
      'insert',
      'commitTransaction',
    ])
  })

  test('an operation that was never sent is missed, although the driver has refused another before', async () => {
    const failed = createLocks(plain()).transaction(
      async ({ db, session }) => {
        const notes = db.collection('note')
        await notes.findOne({}, { session })
        await caught(notes.find({}, { session, readPreference: 'secondary' }).toArray())
        const stop = new AbortController()
        void notes.findOne({}, { session, signal: stop.signal }).catch(() => {})
        stop.abort()
      },
      { attempts: 1 },
    )
    await expect(failed).rejects.toMatchObject({ name: 'RetryableTransactionError' })
  })

  test('what the driver refuses while another operation fails is not waited for', async () => {
    const names: string[] = []
    const hear = ({ commandName }: CommandStartedEvent): unknown => names.push(commandName)
    plain().on('commandStarted', hear)
    const thrown = createLocks(plain()).transaction(async (tx) => {
      await insert(tx, 1)
      const isSent = sent('find')
      const failing = caught(tx.db.collection('note').findOne({ $wrong: 1 }, { session: tx.session }))
      await isSent
      const elsewhere = tx.db
        .collection('note')
        .find({}, { session: tx.session, readPreference: 'secondary' })
      await caught(elsewhere.toArray())
      await failing
      throw new Error('thrown by the work')
    })
    await expect(thrown).rejects.toThrow('thrown by the work')
    plain().off('commandStarted', hear)
    expect(names).toEqual(['buildInfo', 'insert', 'find', 'abortTransaction']) // the session is not killed
  })
}
