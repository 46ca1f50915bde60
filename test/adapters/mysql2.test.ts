import mysql from 'mysql2/promise'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { endThread } from '../../src/adapters/mysql2/end-thread.ts'
import { sessions } from '../../src/adapters/mysql2/sessions.ts'
import { classifyError } from '../../src/classify.ts'
import type { Session } from '../../src/core/session.ts'
import type { Row, Statement, Value } from '../../src/core/statement.ts'
import { createLocks } from '../../src/entries/mysql2.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { gate } from '../entries/stage.ts'
import { provocations } from './provoke.ts'

describeEngines(specs, { only: ['mysql', 'mariadb'] })

const LEVEL = `
  select isolation_level as isolation, access_mode as access
    from performance_schema.events_transactions_current join performance_schema.threads using (thread_id)
   where processlist_id = ?`

class Money {
  readonly amount = 3
}

class Price {
  toString(): string {
    return '3 EUR'
  }
}

function specs(context: EngineContext): void {
  let pool: mysql.Pool
  beforeAll(async () => {
    // settings by which a pool gives rows of another shape
    const shape = { rowsAsArray: true, namedPlaceholders: true }
    pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 2, ...shape })
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    for (const statement of provocations[context.name]?.setUp ?? []) await session.run(statement)
    await session.close()
  })
  afterAll(() => pool.end())

  const open = (): Promise<Session> => sessions(pool).open()
  const ask = async (
    session: Pick<Session, 'run'>,
    sql: string,
    ...params: Value[]
  ): Promise<Row | undefined> => (await session.run({ sql, params }))[0]
  const idOf = async (session: Session): Promise<number> =>
    (await ask(session, 'select connection_id() as id'))?.id as number
  const fromOutside = async (sql: string, ...params: Value[]): Promise<Row | undefined> => {
    const observer = await context.engine.open()
    return ask(observer, sql, ...params).finally(() => observer.close())
  }
  const isOnServer = async (id: number): Promise<boolean> =>
    (await fromOutside('select 1 from information_schema.processlist where id = ?', id)) !== undefined

  test('a connection is ended in the server also when the pool has another one only after the caller has gone', async () => {
    const { opened, open: spare } = gate()
    const busy = { getConnection: () => opened.then(() => pool.getConnection()) }
    const victim = await context.engine.open()
    const id = Number((await ask(victim, 'select connection_id() as id'))?.id)
    await endThread(busy, id)
    expect(await isOnServer(id)).toBe(true)
    spare()
    await until(async () => !(await isOnServer(id)), 'the end of the connection')
    await victim.close().catch(() => {}) // it has none any more
  })

  test.each(['read uncommitted', 'read committed', 'repeatable read', 'serializable'] as const)(
    'the server says that a transaction is %s when that was asked, and the next one is not',
    async (isolation) => {
      const session = await open()
      const id = await idOf(session)
      await session.begin({ isolation, access: 'read-only' })
      await session.run(context.kind.sample.read)
      expect(await fromOutside(LEVEL, id)).toEqual({
        isolation: isolation.toUpperCase(),
        access: 'READ ONLY',
      })
      await session.commit()
      await session.begin()
      await session.run(context.kind.sample.read)
      expect(await fromOutside(LEVEL, id)).toEqual({ isolation: 'REPEATABLE READ', access: 'READ WRITE' })
      await session.commit()
      await session.release()
    },
  )

  test('snapshot is refused: it is no level of this server', async () => {
    const session = await open()
    await expect(session.begin({ isolation: 'snapshot' })).rejects.toMatchObject({ field: 'isolation' })
    await session.release()
  })

  test('a released connection is used again', async () => {
    const first = await open()
    const id = await idOf(first)
    await first.release()
    const second = await open()
    expect(await idOf(second)).toBe(id)
    await second.release()
  })

  test("a destroyed session's connection ends on the server", async () => {
    const session = await open()
    const id = await idOf(session)
    expect(await isOnServer(id)).toBe(true)
    await session.destroy(new Error('for the test'))
    await until(async () => !(await isOnServer(id)), `the end of connection ${id}`)
  })

  test('destroy ends a wait for a named lock', async () => {
    const holder = await context.engine.open()
    // names are one for the whole server, and another file's tests are on it
    const name = await ask(holder, "select concat(database(), '.adapter') as own")
    const take = (seconds: number): Statement => ({
      sql: 'select get_lock(?, ?) as got',
      params: [String(name?.own), seconds],
    })
    expect(await holder.run(take(0))).toEqual([{ got: 1 }])
    const session = await open()
    const id = await idOf(session)
    const waiting = session.run(take(60)).catch((error: unknown) => error)
    await until(() => context.engine.isWaiting({ ...holder, id: String(id) }), 'the session waits')
    const why = new Error('for the test')
    await session.destroy(why)
    expect(await waiting).toBe(why)
    await until(async () => !(await isOnServer(id)), `the end of connection ${id}`)
    await holder.close()
  })

  test('destroy ends a wait for a row, and with it all that the transaction held, while the row stays taken', async () => {
    const take = (id: number): Statement => ({
      sql: 'select n from counter where id = ? for update',
      params: [id],
    })
    const holder = await context.engine.open()
    await holder.begin()
    await holder.run(take(1))
    const session = await open()
    const id = await idOf(session)
    await session.begin()
    await session.run(take(2))
    const waiting = session.run(take(1)).catch((error: unknown) => error)
    await until(() => context.engine.isWaiting({ ...holder, id: String(id) }), 'the session waits')
    const why = new Error('for the test')
    await session.destroy(why)
    expect(await waiting).toBe(why)
    await until(async () => !(await isOnServer(id)), `the end of connection ${id}`)
    expect(
      await holder.run({ sql: 'select n from counter where id = 2 for update nowait', params: [] }),
    ).toHaveLength(1)
    await holder.close()
  })

  test('a connection that the server ends between two statements makes the next one reject, and nothing else', async () => {
    const session = await open()
    const id = await idOf(session)
    await fromOutside(`kill ${id}`)
    await until(
      () =>
        session.run({ sql: 'select 1', params: [] }).then(
          () => false,
          () => true,
        ),
      'an error of the next statement',
    )
    await session.destroy(new Error('for the test'))
    const next = await open()
    expect(await idOf(next)).not.toBe(id)
    await next.release()
  })

  test('statements that cannot be prepared, and values where only a literal may stand, all work', async () => {
    const session = await open()
    expect(await session.run({ sql: 'select id from counter order by id limit ?', params: [1] })).toEqual([
      { id: 1 },
    ])
    expect(await session.run({ sql: 'set session innodb_lock_wait_timeout = ?', params: [50] })).toEqual([])
    expect(await session.run({ sql: 'lock tables counter read', params: [] })).toEqual([])
    expect(await session.run({ sql: 'unlock tables', params: [] })).toEqual([])
    await session.release()
  })

  test.each(['', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES'])(
    'under the mode "%s" a text stays a text',
    async (mode) => {
      const session = await open()
      const { saved } = (await ask(session, 'select @@sql_mode as saved')) ?? {}
      await session.run({ sql: 'set sql_mode = ?', params: [mode] })
      for (const text of [`' or 1 = 1 -- `, `\\' or 1 = 1 -- `, '\\', `"`, '\0\n\x1a', '%?', '']) {
        expect(await ask(session, 'select ? as text', text)).toEqual({ text })
        expect(
          await session.run({ sql: 'select n from counter where id = ?', params: [`0${text}`] }),
        ).toEqual([])
      }
      await session.run({ sql: 'set sql_mode = ?', params: [String(saved)] })
      await session.release()
    },
  )

  test.each([
    ['an object', { a: 1 }],
    ['one in a list', [{ a: 1 }]],
    ['a symbol', Symbol('a')],
    ['a function', () => 1],
    ['one of a class that has no text', new Money()],
    ['one in a set', new Set([new Money()])],
    ['a map', new Map([['a', 1]])],
    ['a promise', Promise.resolve(1)],
    ['a buffer that nobody looks into', new ArrayBuffer(1)],
    ['one whose text throws', Object.create(Object.create(null) as object)],
  ])('%s, of which the driver makes a text that nobody means, is refused', async (_, value) => {
    const session = await open()
    const asked = session.run({ sql: 'select n from counter where id = ?', params: [value as never] })
    await expect(asked).rejects.toMatchObject({ code: 'LOCK_USAGE', field: 'params' })
    await session.release()
  })

  test.each<[string, unknown, unknown]>([
    ['one of a class that has a text', new Price(), '3 EUR'],
    ['an address', new URL('https://holdfast.example/'), 'https://holdfast.example/'],
    ['bytes', new Uint8Array([65, 66]), Buffer.from('AB')],
    ['a buffer', Buffer.from('AB'), Buffer.from('AB')],
    ['a list', ['a'], 'a'],
    ['a set', new Set(['a']), 'a'],
    ['numbers of another size', new Int32Array([1, 2]), '1,2'],
  ])('%s is sent as what it is', async (_, value, found) => {
    const session = await open()
    expect(await ask(session, 'select ? as found', value as never)).toEqual({ found })
    await session.release()
  })

  test('what says itself how it is written is sent so', async () => {
    const session = await open()
    expect(await ask(session, 'select ? as two', mysql.raw('1 + 1') as never)).toEqual({ two: 2 })
    await session.release()
  })

  test('a pool that makes no values of what it is sent does not change what Holdfast reads', async () => {
    const raw = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 2, typeCast: false })
    const locks = createLocks(raw)
    expect(await locks.withLock('typeCast', async () => 'held')).toBe('held')
    const [row] = await locks.transaction((tx) => locks.rows(tx, { table: 'counter', key: { id: 1 } }))
    expect(row).toMatchObject({ id: 1 })
    await raw.end()
  })

  test('a whole number that JavaScript cannot hold comes as text, with all its digits', async () => {
    const session = await open()
    expect(await ask(session, 'select 9007199254740993 as big, 5 as small')).toEqual({
      big: '9007199254740993',
      small: 5,
    })
    await session.release()
  })

  test('what a refused COMMIT means is what the error meant that was caught', async () => {
    const session = await open()
    await session.begin()
    await session.run(context.kind.sample.increment)
    await provocations[context.name]?.abort(session, context.engine).catch(() => {})
    const refused: unknown = await session.commit().catch((error: unknown) => error)
    expect(classifyError(refused)).toMatchObject({ kind: 'deadlock', retryable: true })
    await session.release()
  })
}
