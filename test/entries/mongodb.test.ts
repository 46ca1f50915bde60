import {
  BSONRegExp,
  MongoClient,
  ObjectId,
  type ClientSession,
  type CommandStartedEvent,
  type Db,
} from 'mongodb'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { LockNotAvailableError } from '../../src/core/errors.ts'
import { createLocks, type MongodbLocks, type MongodbTransaction } from '../../src/entries/mongodb.ts'
import { registry } from '../../src/registry.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'
import { counterOf } from './subject.ts'

describeEngines(specs, { only: ['mongodb'] })

interface Job {
  readonly _id: number | string | ObjectId
  readonly state: string
  readonly rank: number
}

function specs(context: EngineContext): void {
  const sent: CommandStartedEvent[] = []
  let client: MongoClient
  let locks: MongodbLocks<MongodbTransaction<ClientSession, Db>>
  beforeAll(async () => {
    client = await new MongoClient(context.engine.server.url, { monitorCommands: true }).connect()
    client.on('commandStarted', (event) => sent.push(event))
    locks = createLocks(client)
  })
  beforeEach(async () => {
    const jobs = client.db().collection<Job>('job')
    await jobs.deleteMany({})
    await jobs.insertMany([
      { _id: 1, state: 'new', rank: 3 },
      { _id: '1', state: 'new', rank: 1 },
      { _id: new ObjectId(), state: 'new', rank: 2 },
      { _id: 2, state: 'old', rank: 0 },
    ])
    await client
      .db()
      .collection<{ _id: number; n: number }>('counter')
      .replaceOne({ _id: 1 }, { n: 0 }, { upsert: true })
    sent.length = 0
  })
  afterEach(() =>
    until(async () => (await context.engine.leftovers()).length === 0, 'a server on which nothing is left'),
  )
  afterAll(() => client.close())

  test('documents are locked by a filter, and given in the order of the sort', async () => {
    const query = { collection: 'job', filter: { state: 'new' }, sort: { rank: 1 } } as const
    const second = createLocks(client)
    await locks.transaction(async (tx) => {
      const rows = await locks.rows<Job>(tx, query)
      expect(rows.map(({ rank }) => rank)).toEqual([1, 2, 3])
      expect(rows.receipt).toMatchObject({
        dialect: 'mongodb',
        granularity: 'row',
        support: { level: 'emulated' },
      })
      const refused = second.transaction((other) => second.rows(other, query, { wait: 'nowait' }))
      await expect(refused).rejects.toBeInstanceOf(LockNotAvailableError)
      const free = { ...query, filter: { state: 'old' } }
      expect(await second.transaction((other) => second.rows(other, free, { wait: 'nowait' }))).toHaveLength(
        1,
      )
    })
  })

  test('no more documents are locked than the limit says', async () => {
    const query = { collection: 'job', filter: {}, sort: { rank: -1 }, limit: 2 } as const
    const rows = await locks.transaction((tx) => locks.rows<Job>(tx, query))
    expect(rows.map(({ rank }) => rank)).toEqual([3, 2])
    const touched = await client
      .db()
      .collection('job')
      .countDocuments({ _holdfast: { $exists: true } })
    expect(touched).toBe(2)
  })

  test('a filter that nothing matches locks nothing, and the receipt says so', async () => {
    const query = { collection: 'job', filter: { state: 'gone' } }
    const rows = await locks.transaction((tx) => locks.rows(tx, query))
    expect([...rows]).toEqual([])
    expect(rows.receipt).toMatchObject({ dialect: 'mongodb', statements: [] })
  })

  test('a filter is refused outside of a transaction, and so are words that nobody knows', async () => {
    const query = { collection: 'job', filter: {} }
    const tx = await locks.transaction(async (open) => open)
    await expect(locks.rows(tx, query)).rejects.toMatchObject({ field: 'tx' })
    const misspelt = { ...query, sorted: { rank: 1 } }
    await expect(locks.transaction((open) => locks.rows(open, misspelt))).rejects.toMatchObject({
      field: 'sorted',
    })
    const none = { ...query, limit: 0 }
    await expect(locks.transaction((open) => locks.rows(open, none))).rejects.toMatchObject({
      field: 'limit',
    })
  })

  test.each([/./, [/./], ['a', new BSONRegExp('.')]])('a pattern is refused as a key: %o', async (key) => {
    const target = { table: 'job', key: { state: key as never } }
    const refused = locks.transaction((tx) => locks.rows(tx, target))
    await expect(refused).rejects.toMatchObject({ name: 'LockUsageError', field: 'target.key' })
    expect(sent.filter(({ commandName }) => commandName === 'update')).toEqual([])
  })

  test('skipping locked documents is refused with the declared reason, before anything is sent', async () => {
    const { reason } = registry.mongodb.cells['skip-locked']
    for (const query of [counterOf('mongodb'), { collection: 'job', filter: {} }]) {
      // @ts-expect-error a query cannot tell which documents are locked
      const refused = locks.transaction((tx) => locks.rows(tx, query, { wait: 'skip' }))
      await expect(refused).rejects.toMatchObject({ name: 'UnsupportedLockError', reason })
    }
    expect(sent.filter(({ commandName }) => commandName === 'find')).toEqual([])
  })

  test('the work uses the database that is named', async () => {
    const database = `${client.db().databaseName}_other`
    const elsewhere = createLocks(client, { database })
    await elsewhere.transaction(async ({ db, session }) => {
      expect(db.databaseName).toBe(database)
      await db.collection<Job>('job').insertOne({ _id: 1, state: 'new', rank: 1 }, { session })
    })
    const rows = await elsewhere.transaction((tx) => elsewhere.rows(tx, { table: 'job', key: { _id: 1 } }))
    expect(rows).toHaveLength(1)
    await client.db(database).dropDatabase()
  })

  test('isolation is what was asked: snapshot is given, serializable is refused', async () => {
    await locks.transaction(async ({ db, session }) => db.collection('job').findOne({}, { session }), {
      isolation: 'snapshot',
    })
    const first = sent.find(({ commandName }) => commandName === 'find')
    expect(first?.command).toMatchObject({ readConcern: { level: 'snapshot' }, startTransaction: true })
    await expect(locks.transaction(async () => {}, { isolation: 'serializable' })).rejects.toMatchObject({
      field: 'isolation',
    })
  })

  test('a duplicate key that the work has caught is never taken for stored', async () => {
    const work = async ({ db, session }: MongodbTransaction<ClientSession, Db>): Promise<void> => {
      const jobs = db.collection<Job>('job')
      await jobs.updateOne({ _id: 2 }, { $set: { state: 'half' } }, { session })
      await jobs.insertOne({ _id: 1, state: 'new', rank: 1 }, { session }).catch(() => {})
    }
    const refused = await caught(locks.transaction(work, { attempts: 2, backoff: { baseMs: 1 } }))
    expect(refused).toBeInstanceOf(Error)
    expect(await client.db().collection<Job>('job').findOne({ _id: 2 })).toMatchObject({ state: 'old' })
  })
}
