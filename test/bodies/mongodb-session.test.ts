import type { ClientSession, CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { mongodbStage, type Tx } from './mongodb-stage.ts'

describeEngines(specs, { only: ['mongodb'] })

const ownersCalls: readonly (readonly [string, (session: ClientSession) => unknown])[] = [
  ['startTransaction', (session) => session.startTransaction()],
  ['commitTransaction', (session) => session.commitTransaction()],
  ['abortTransaction', (session) => session.abortTransaction()],
  ['withTransaction', (session) => session.withTransaction(async () => {})],
  ['endSession', (session) => session.endSession()],
  ['Symbol.asyncDispose', (session) => session[Symbol.asyncDispose]()],
]

function specs(context: EngineContext): void {
  const stage = mongodbStage(context)
  const { insert, stored, failing } = stage

  test.each(ownersCalls)('work that calls %s itself is refused', async (_, call) => {
    const locks = stage.locks()
    const refused = locks.withLock('owner', async (tx) => {
      await insert(tx, 1)
      await call(tx.session)
    })
    await expect(refused).rejects.toMatchObject({ name: 'LockUsageError', field: 'session' })
    expect(await stored()).toEqual([0])
  })

  test.each(ownersCalls)('work that calls %s itself is refused, although it caught that', async (_, call) => {
    const locks = stage.locks()
    const rival = stage.locks()
    const refused = locks.withLock('owner', async (tx) => {
      await insert(tx, 1)
      await caught((async () => call(tx.session))())
      await insert(tx, 2)
      expect(await rival.tryLock('owner', async () => {})).toEqual({ acquired: false })
    })
    await expect(refused).rejects.toBeInstanceOf(LockUsageError)
    expect(await stored()).toEqual([0])
  })

  test('the session is refused once its transaction is over', async () => {
    let left: Tx | undefined
    await stage.locks().transaction(async (tx) => {
      left = tx
      await insert(tx, 1)
    })
    if (left === undefined) return expect.unreachable()
    await expect(insert(left, 2)).rejects.toMatchObject({ name: 'MongoExpiredSessionError' })
    expect(await stored()).toEqual([0, 1])
  })

  test('the session is refused once its transaction was aborted, while the work goes on', async () => {
    const [inside, after] = [gate(), gate()]
    const stop = new AbortController()
    let later: Promise<unknown> | undefined
    const aborted = stage.locks().transaction(
      async (tx) => {
        await insert(tx, 1)
        later = caught(after.opened.then(() => insert(tx, 2)))
        inside.open()
        await later
      },
      { signal: stop.signal },
    )
    await inside.opened
    stop.signal.addEventListener('abort', after.open)
    stop.abort(new Error('stopped'))
    await expect(aborted).rejects.toThrow('stopped')
    expect(await later).toMatchObject({ name: 'MongoExpiredSessionError' })
    expect(await stored()).toEqual([0])
  })

  test('a cursor that is left open when the work throws keeps nothing waiting', async () => {
    const many = Array.from({ length: 20 }, (_, place) => ({ _id: place + 1 }))
    await stage.client().db().collection<{ _id: number }>('note').insertMany(many)
    const thrown = stage.locks().transaction(async ({ db, session }) => {
      const cursor = db.collection('note').find({}, { session, batchSize: 2 })
      await cursor.next()
      for await (const _ of db.collection('note').find({}, { session, batchSize: 2 })) break
      throw new Error('thrown by the work')
    })
    await expect(thrown).rejects.toThrow('thrown by the work')
    expect(await context.engine.leftovers()).toEqual([])
  })

  test('a call that only the driver has refused ends no transaction', async () => {
    const locks = stage.locks()
    const failed = await locks.transaction(async (tx) => {
      await insert(tx, 1)
      const refused = await caught(locks.rows(tx, { collection: 'note', filter: circle() }))
      const elsewhere = tx.db
        .collection('note')
        .find({}, { session: tx.session, readPreference: 'secondary' })
      await expect(elsewhere.toArray()).rejects.toMatchObject({ name: 'MongoTransactionError' })
      return refused
    })
    expect(failed).toMatchObject({ name: 'BSONError' })
    expect(await stored()).toEqual([0, 1])
  })

  test('the error that has ended the transaction is blamed, not the first one', async () => {
    const locks = stage.locks()
    const rival = stage.locks()
    const note = { table: 'note', key: { _id: 0 } }
    let runs = 0
    const work = async (tx: Tx): Promise<void> => {
      runs += 1
      await insert(tx, runs)
      await caught(locks.rows(tx, { collection: 'note', filter: circle() }))
      if (runs > 1) return
      await rival.transaction(async (other) => {
        await rival.rows(other, note)
        await caught(locks.rows(tx, note))
      })
    }
    await locks.transaction(work)
    expect(runs).toBe(2)
    expect(await stored()).toEqual([0, 2])
  })

  test('when no answer comes to abortTransaction, the transaction is ended all the same', async () => {
    await failing({ failCommands: ['abortTransaction'], times: 2, closeConnection: true }, async () => {
      const thrown = stage.locks().transaction(async (tx) => {
        await insert(tx, 1)
        throw new Error('thrown by the work')
      })
      await expect(thrown).rejects.toThrow('thrown by the work')
    })
    expect(await context.engine.leftovers()).toEqual([])
    await stage.locks().transaction((tx) => insert(tx, 1), { attempts: 1 })
    expect(await stored()).toEqual([0, 1])
  })

  test('a transaction costs its COMMIT, and a named lock one command more', async () => {
    const locks = stage.locks()
    const work = (_id: number) => (tx: Tx) => insert(tx, _id)
    await locks.withLock('cost', work(1)) // what is asked once
    const names: string[] = []
    const hear = ({ commandName }: CommandStartedEvent): unknown => names.push(commandName)
    stage.client().on('commandStarted', hear)
    await locks.transaction(work(2))
    await locks.withLock('cost', work(3))
    stage.client().off('commandStarted', hear)
    expect(names).toEqual(['insert', 'commitTransaction', 'findAndModify', 'insert', 'commitTransaction'])
  })
}

/** What cannot be written as a document. */
function circle(): Record<string, unknown> {
  const filter: Record<string, unknown> = {}
  filter.again = filter
  return filter
}
