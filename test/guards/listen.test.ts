import { MongoClient } from 'mongodb'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'

import * as mongodbAdapter from '../../src/adapters/mongodb/sessions.ts'
import * as pgAdapter from '../../src/adapters/pg/sessions.ts'
import type { Sessions } from '../../src/core/session.ts'
import type { Row } from '../../src/core/statement.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'

describeEngines(postgresSpecs, { only: ['postgres'] })
describeEngines(mongodbSpecs, { only: ['mongodb'] })

function listening({ listen }: Sessions, topic: string, heard: string[]): Promise<() => Promise<void>> {
  return listen?.(topic, (message) => void heard.push(message)) ?? expect.unreachable()
}

function postgresSpecs(context: EngineContext): void {
  const pooler = useExtraServer(() => startPgBouncer(context.server, 'transaction'))
  let pool: pg.Pool
  let sessions: Sessions
  beforeEach(() => {
    pool = new pg.Pool({ connectionString: context.engine.server.url, max: 3 })
    pool.on('error', () => {})
    sessions = pgAdapter.sessions(pool)
  })
  afterEach(() => pool.end())

  const outside = async (sql: string, ...params: string[]): Promise<readonly Row[]> => {
    const session = await context.engine.open()
    return session.run({ sql, params }).finally(() => session.close())
  }
  const notify = (topic: string, message: string): Promise<unknown> =>
    outside('select pg_notify($1, $2)', topic, message)
  const inUse = (): number => pool.totalCount - pool.idleCount
  const hears = (heard: readonly string[], message: string): Promise<void> =>
    until(() => heard.includes(message), `the message ${message}`)

  test('a message wakes everybody who listens to its topic, and nobody else', async () => {
    const [a, b, other]: string[][] = [[], [], []]
    const ends = [
      await listening(sessions, 'Some "topic"', a ?? []),
      await listening(sessions, 'Some "topic"', b ?? []),
      await listening(sessions, 'some topic', other ?? []),
    ]
    await notify('Some "topic"', 'x')
    await hears(a ?? [], 'x')
    await hears(b ?? [], 'x')
    await notify('some topic', 'y')
    await hears(other ?? [], 'y')
    expect([a, b, other]).toEqual([['x'], ['x'], ['y']])
    for (const end of ends) await end()
  })

  test('all listeners share one connection, which goes back clean when the last one leaves', async () => {
    const heard: string[] = []
    const ends = await Promise.all(['a', 'b', 'a', 'c'].map((topic) => listening(sessions, topic, heard)))
    expect(inUse()).toBe(1)
    for (const end of ends.slice(1)) await end()
    await notify('b', 'nobody')
    await notify('a', 'first')
    await hears(heard, 'first')
    expect(inUse()).toBe(1)
    await Promise.all(ends.map((end) => end())) // a second end changes nothing
    expect(inUse()).toBe(0)
    const client = await pool.connect()
    const { rows } = await client.query('select pg_listening_channels() as topic')
    expect([rows, client.listenerCount('notification')]).toEqual([[], 0])
    client.release()
    expect(heard).toEqual(['first'])
    expect(pool.totalCount).toBe(1)
  })

  test('when the connection breaks the listeners are woken to look, and the next one opens another', async () => {
    const heard: string[] = []
    const end = await listening(sessions, 'broken', heard)
    await outside(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'LISTEN%' and datname = current_database()",
    )
    await hears(heard, '')
    await until(() => pool.totalCount === 0, 'a pool without the broken connection')
    await end()
    const again: string[] = []
    const endAgain = await listening(sessions, 'broken', again)
    await notify('broken', 'z')
    await hears(again, 'z')
    await endAgain()
    expect(heard).toEqual([''])
  })

  test('the last connection of a pool is never taken', async () => {
    const held = [await pool.connect(), await pool.connect()]
    await expect(listening(sessions, 'full', [])).rejects.toThrow(/no connection to spare/)
    held.pop()?.release()
    const end = await listening(sessions, 'full', [])
    await end()
    held.pop()?.release()
  })

  test('through a transaction pooler nobody listens, and no server is left listening', async ({ skip }) => {
    const url = new URL(pooler(skip).server.url)
    url.pathname = new URL(context.engine.server.url).pathname
    const pooled = new pg.Pool({ connectionString: url.href, max: 3 })
    await expect(listening(pgAdapter.sessions(pooled), 'pooled', [])).rejects.toThrow(
      /there is a pooler in between/,
    )
    expect(pooled.totalCount - pooled.idleCount).toBe(0)
    const client = await pooled.connect()
    expect((await client.query('select pg_listening_channels() as topic')).rows).toEqual([])
    client.release()
    await pooled.end()
  })
}

function mongodbSpecs(context: EngineContext): void {
  let client: MongoClient
  let sessions: Sessions
  beforeEach(async () => {
    client = await new MongoClient(context.engine.server.url).connect()
    sessions = mongodbAdapter.sessions(client)
  })
  afterEach(() => client.close())

  const change = async (command: Row): Promise<void> => {
    const session = await context.engine.open()
    await session.run({ command })
    await session.close()
  }
  const hears = (heard: readonly string[], message: string, times = 1): Promise<void> =>
    until(() => heard.filter((text) => text === message).length === times, `the message ${message}`)
  /** The change streams that the server keeps for our database. */
  const streams = async (): Promise<number> => {
    const idle = [
      { $currentOp: { allUsers: true, idleCursors: true } },
      { $match: { ns: { $regex: `^${client.db().databaseName}\\.` }, 'cursor.tailable': true } },
    ]
    return (await client.db('admin').aggregate(idle).toArray()).length
  }

  test('an insert, an update and a delete in another connection wake with the id, and nobody else', async () => {
    const [a, b, other]: string[][] = [[], [], []]
    const ends = [
      await listening(sessions, 'topic', a ?? []),
      await listening(sessions, 'topic', b ?? []),
      await listening(sessions, 'another', other ?? []),
    ]
    await change({ insert: 'topic', documents: [{ _id: 'x', n: 0 }] })
    await hears(a ?? [], 'x')
    await change({ update: 'topic', updates: [{ q: { _id: 'x' }, u: { $inc: { n: 1 } } }] })
    await hears(a ?? [], 'x', 2)
    await change({ delete: 'topic', deletes: [{ q: { _id: 'x' }, limit: 1 }] })
    await hears(a ?? [], 'x', 3)
    await hears(b ?? [], 'x', 3)
    expect(other).toEqual([])
    // one for each topic; the server lists a stream twice, or not at all, whose answer is asked for at that moment
    await until(async () => (await streams()) === 2, 'two streams')
    for (const end of ends) await end()
    await until(async () => (await streams()) === 0, 'a server that keeps no stream for us')
  })

  test('listeners that come and go leave nothing behind', async () => {
    const heard: string[] = []
    for (let round = 0; round < 3; round += 1) {
      const ends = await Promise.all([1, 2, 3].map(() => listening(sessions, 'short', heard)))
      await Promise.all(ends.map((end) => end()))
    }
    await until(async () => (await streams()) === 0, 'a server that keeps no stream for us')
    expect(heard).toEqual([])
  })

  test('when the stream ends for good the listeners are woken to look, and the next one opens another', async () => {
    const heard: string[] = []
    await change({ insert: 'dropped', documents: [{ _id: 1 }] })
    const end = await listening(sessions, 'dropped', heard)
    await change({ drop: 'dropped' })
    await until(() => heard.includes(''), 'the end of the stream')
    await end()
    const again: string[] = []
    const endAgain = await listening(sessions, 'dropped', again)
    await change({ insert: 'dropped', documents: [{ _id: 'y' }] })
    await hears(again, 'y')
    await endAgain()
  })
}
