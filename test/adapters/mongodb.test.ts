import { MongoClient, type CommandStartedEvent } from 'mongodb'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/mongodb/sessions.ts'
import { classifyError } from '../../src/classify.ts'
import type { Session } from '../../src/core/session.ts'
import type { Row } from '../../src/core/statement.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'

describeEngines(specs, { only: ['mongodb'] })

function specs(context: EngineContext): void {
  const sent: CommandStartedEvent[] = []
  let client: MongoClient
  beforeAll(async () => {
    client = await new MongoClient(context.engine.server.url, { monitorCommands: true }).connect()
    client.on('commandStarted', (event) => sent.push(event))
    const session = await open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    const documents = Array.from({ length: 250 }, (_, _id) => ({ _id }))
    await session.run({ command: { insert: 'many', documents } })
    await session.release()
  })
  afterAll(() => client.close())

  const open = (): Promise<Session> => sessions(client).open()
  const read = (session: Session): Promise<readonly Row[]> => session.run(context.kind.sample.read)
  const increment = (session: Session): Promise<readonly Row[]> => session.run(context.kind.sample.increment)
  const insertTwice = { command: { insert: 'counter', documents: [{ _id: 1 }] } }

  test.each(['read uncommitted', 'read committed', 'repeatable read', 'snapshot'] as const)(
    '%s is given: a transaction sees what was there at its first command',
    async (isolation) => {
      const [first, second] = [await open(), await open()]
      await first.begin({ isolation })
      const before = await read(first)
      await increment(second)
      expect(await read(first)).toEqual(before)
      await first.commit()
      expect(await read(first)).not.toEqual(before)
      await first.release()
      await second.release()
    },
  )

  test('serializable, and reading alone, are refused', async () => {
    const session = await open()
    await expect(session.begin({ isolation: 'serializable' })).rejects.toMatchObject({ field: 'isolation' })
    await expect(session.begin({ access: 'read-only' })).rejects.toMatchObject({ field: 'access' })
    await session.release()
  })

  test('a transaction reads a snapshot and is committed by a majority', async () => {
    const session = await open()
    sent.length = 0
    await session.begin()
    await increment(session)
    await session.commit()
    await session.release()
    const commands = Object.fromEntries(sent.map(({ commandName, command }) => [commandName, command]))
    expect(commands.update).toMatchObject({ startTransaction: true, readConcern: { level: 'snapshot' } })
    expect(commands.commitTransaction).toMatchObject({ writeConcern: { w: 'majority' } })
  })

  test.each([{ find: 'many' }, { aggregate: 'many', pipeline: [], cursor: {} }])(
    'all documents are given, also those behind the first batch: %o',
    async (command) => {
      const session = await open()
      expect(await session.run({ command })).toHaveLength(250)
      await session.begin()
      expect(await session.run({ command })).toHaveLength(250)
      await session.commit()
      await session.release()
    },
  )

  test('findAndModify gives its document, or no row', async () => {
    const session = await open()
    const take = (_id: number): Promise<readonly Row[]> =>
      session.run({
        command: { findAndModify: 'many', query: { _id }, update: { $set: { taken: true } }, new: true },
      })
    expect(await take(5)).toEqual([{ _id: 5, taken: true }])
    expect(await take(-1)).toEqual([])
    await session.release()
  })

  test('other commands give their reply', async () => {
    const session = await open()
    expect(await session.run({ command: { ping: 1 } })).toMatchObject([{ ok: 1 }])
    await session.release()
  })

  test('a write that failed is an error, although the reply says ok', async () => {
    const session = await open()
    const reply = await client.db().command(insertTwice.command)
    expect(reply.ok).toBe(1)
    const error: unknown = await session.run(insertTwice).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'MongodbWriteError', code: 11000 })
    expect(classifyError(error)).toMatchObject({ kind: 'unique-violation', dialect: 'mongodb' })
    await session.release()
  })

  test('a write that too few members have is an error', async () => {
    const session = await open()
    const writeConcern = { w: 7, wtimeout: 200 }
    const command = { update: 'many', updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }], writeConcern }
    await expect(session.run({ command })).rejects.toMatchObject({
      name: 'MongoWriteConcernError',
      code: 100,
    })
    await session.release()
  })

  test('what a refused COMMIT means is what the error meant that was caught', async () => {
    const [winner, loser] = [await open(), await open()]
    await winner.begin()
    await increment(winner)
    await loser.begin()
    await expect(increment(loser)).rejects.toMatchObject({ code: 112 })
    const refused: unknown = await loser.commit().catch((error: unknown) => error)
    expect(classifyError(refused)).toMatchObject({ kind: 'write-conflict', retryable: true })
    await loser.rollback()
    await winner.rollback()
    await winner.release()
    await loser.release()
  })

  test('the server itself would ask for another try of such a COMMIT', async () => {
    const session = client.startSession()
    session.startTransaction()
    await client.db().command(insertTwice.command, { session })
    await expect(session.commitTransaction()).rejects.toMatchObject({
      errorLabels: ['TransientTransactionError'],
    })
    await session.endSession()
  })

  test('destroy ends a write that waits for a transaction of another, and the write is not done', async () => {
    const holder = await context.engine.open()
    await holder.begin()
    await holder.run(context.kind.sample.increment)
    const session = await open()
    const before = await read(session)
    const waiting = increment(session).catch((error: unknown) => error)
    await until(async () => (await waits()) > 0, 'a write that waits')
    await session.destroy(new Error('for the test'))
    expect(await waiting).toBeInstanceOf(Error)
    // the server notices at the next try of the write
    await until(async () => (await waits()) === 0, 'the end of the write')
    await holder.rollback()
    await holder.close()
    const after = await open()
    expect(await read(after)).toEqual(before)
    await after.release()
  })

  /** How many updates of our collection are running on the server. */
  const waits = async (): Promise<number> => {
    const ns = `${client.db().databaseName}.counter`
    const running = client.db('admin').aggregate([{ $currentOp: {} }, { $match: { ns, op: 'update' } }])
    return (await running.toArray()).length
  }

  test('a session works in the database that is named', async () => {
    const name = `${client.db().databaseName}_other`
    const session = await sessions(client, { database: name }).open()
    await session.run({ command: { insert: 'here', documents: [{ _id: 1 }] } })
    await session.release()
    expect(await client.db(name).collection('here').countDocuments()).toBe(1)
    await client.db(name).dropDatabase()
  })
}
