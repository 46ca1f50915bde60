import Database from 'better-sqlite3'
import { CamelCasePlugin, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from 'kysely'
import mysql from 'mysql2'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { traits as sqliteTraits } from '../../src/adapters/better-sqlite3/sessions.ts'
import { sessions } from '../../src/adapters/kysely/sessions.ts'
import { traits as mysqlTraits } from '../../src/adapters/mysql2/sessions.ts'
import { traits as pgTraits } from '../../src/adapters/pg/traits.ts'
import type { Session } from '../../src/core/session.ts'
import type { Row, Value } from '../../src/core/statement.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { watchSent } from '../sqlite-contention/sent.ts'
import { pgPool } from './subject.ts'

describeEngines(postgresSpecs, { only: ['postgres'] })
describeEngines(mysqlSpecs, { only: ['mysql', 'mariadb'] })
describeEngines(sqliteSpecs, { only: ['sqlite'] })

const why = new Error('for the test')

async function ask(
  session: Pick<Session, 'run'>,
  text: string,
  ...params: Value[]
): Promise<Row | undefined> {
  return (await session.run({ sql: text, params }))[0]
}

function postgresSpecs(context: EngineContext): void {
  let db: Kysely<unknown>
  beforeEach(() => {
    const dialect = new PostgresDialect({ pool: pgPool(context.engine.server.url) })
    db = new Kysely({ dialect, plugins: [new CamelCasePlugin()] })
  })
  afterEach(() => db.destroy())

  const open = (): Promise<Session> => sessions(db, { driver: pgTraits }).open()
  const pidOf = async (session: Session): Promise<unknown> =>
    (await ask(session, 'select pg_backend_pid() as pid'))?.pid

  const endBackend = async (pid: unknown): Promise<void> => {
    const administrator = await context.engine.open()
    await ask(administrator, 'select pg_terminate_backend($1)', Number(pid))
    await administrator.close()
  }

  test('a session has a connection of its own, on which nothing else of Kysely runs', async () => {
    const session = await open()
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
    expect(rows[0]?.pid).not.toBe(await pidOf(session))
    await session.release()
  })

  test("Kysely's plugins do not change the answer", async () => {
    const session = await open()
    expect(await ask(session, 'select 1 as some_name')).toEqual({ some_name: 1 })
    await session.begin()
    expect(await ask(session, 'select 1 as some_name')).toEqual({ some_name: 1 })
    await session.rollback()
    await session.release()
  })

  test('the server says that a transaction is as it was asked', async () => {
    const session = await open()
    await session.begin({ isolation: 'serializable', access: 'read-only' })
    expect(await ask(session, 'show transaction_isolation')).toEqual({
      transaction_isolation: 'serializable',
    })
    expect(await ask(session, 'show transaction_read_only')).toEqual({ transaction_read_only: 'on' })
    await session.commit()
    await expect(session.begin({ isolation: 'snapshot' })).rejects.toMatchObject({ field: 'isolation' })
    await session.release()
  })

  test('destroy takes locks, settings and transaction off the connection before it is used again', async () => {
    const session = await open()
    const pid = await pidOf(session)
    await session.run({ sql: 'select pg_advisory_lock($1)', params: [9n] })
    await session.run({ sql: 'set lock_timeout = 1234', params: [] })
    await session.begin()
    await session.run({ sql: 'create table unfinished ()', params: [] })
    expect(await context.engine.leftovers()).not.toEqual([])
    await session.destroy(why)
    expect(await context.engine.leftovers()).toEqual([])
    const next = await open()
    expect(await pidOf(next)).toBe(pid)
    expect(await ask(next, 'show lock_timeout')).toEqual({ lock_timeout: '0' })
    await next.release()
  })

  test('a connection that cannot be cleaned and is alive is never used again, and destroy says so', async () => {
    // a pool of its own, since a pool with a connection that is never given back cannot be ended
    const lone = pgPool(context.engine.server.url)
    const driver = { ...pgTraits, cleanUp: [{ sql: 'no statement', params: [] }] }
    const session = await sessions(new Kysely({ dialect: new PostgresDialect({ pool: lone }) }), {
      driver,
    }).open()
    const pid = await pidOf(session)
    await session.begin()
    await expect(session.destroy(why)).rejects.toMatchObject({ cause: why })
    expect({ all: lone.totalCount, idle: lone.idleCount }).toEqual({ all: 1, idle: 0 })
    await endBackend(pid)
  })

  test('destroy of a session whose connection is broken lets the pool drop it', async () => {
    const session = await open()
    const pid = await pidOf(session)
    await session.begin()
    await endBackend(pid)
    await until(
      () =>
        session.run({ sql: 'select 1', params: [] }).then(
          () => false,
          () => true,
        ),
      'the end of the connection',
    )
    await session.destroy(why)
    const next = await open()
    expect(await pidOf(next)).not.toBe(pid)
    await next.release()
  })
}

function mysqlSpecs(context: EngineContext): void {
  let db: Kysely<unknown>
  let sent: string[]
  beforeEach(() => {
    const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 2 })
    sent = []
    db = new Kysely({ dialect: new MysqlDialect({ pool }), log: ({ query }) => void sent.push(query.sql) })
  })
  afterEach(() => db.destroy())

  const open = (): Promise<Session> => sessions(db, { driver: mysqlTraits }).open()

  test("a destroyed session's connection ends on the server, and with it the named locks", async () => {
    const session = await open()
    const own = "concat(database(), '.kysely')" // names are one for the whole server
    const { id } = (await ask(session, 'select connection_id() as id')) ?? {}
    expect(await ask(session, `select get_lock(${own}, 0) as answer`)).toEqual({ answer: 1 })
    await session.destroy(why)
    const observer = await context.engine.open()
    await until(
      async () =>
        (await ask(observer, 'select 1 from information_schema.processlist where id = ?', Number(id))) ===
        undefined,
      `the end of connection ${String(id)}`,
    )
    expect(await ask(observer, `select is_free_lock(${own}) as answer`)).toEqual({ answer: 1 })
    await observer.close()
    const next = await open()
    expect(await ask(next, 'select connection_id() as id')).not.toEqual({ id })
    await next.release()
  })

  test('whoever gives up in the middle of a beginning rolls back behind all of it', async () => {
    const session = await open()
    sent.splice(0) // a look at the connection, which is new
    const beginning = session.begin({ isolation: 'serializable' })
    const ended = session.destroy(why)
    await Promise.allSettled([beginning, ended])
    expect(sent.slice(0, 3)).toEqual([
      'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE',
      'START TRANSACTION',
      'ROLLBACK',
    ])
  })

  test('a text stays a text when the server takes a backslash for an ordinary character', async () => {
    const session = await open()
    const { saved } = (await ask(session, 'select @@sql_mode as saved')) ?? {}
    await session.run({ sql: "set sql_mode = 'NO_BACKSLASH_ESCAPES'", params: [] })
    for (const text of [`' or 1 = 1 -- `, `\\' or 1 = 1 -- `]) {
      expect(await ask(session, 'select ? as text', text)).toEqual({ text })
    }
    await session.run({ sql: 'set sql_mode = ?', params: [String(saved)] })
    await session.release()
  })
}

function sqliteSpecs(context: EngineContext): void {
  let handle: Database.Database
  let db: Kysely<unknown>
  let sent: ReturnType<typeof watchSent>
  beforeEach(() => {
    sent = watchSent(/^BEGIN/)
    handle = new Database(context.engine.server.url, { timeout: 5000, verbose: sent.onHandle(5000) })
    db = new Kysely({ dialect: new SqliteDialect({ database: handle }) })
  })
  afterEach(() => db.destroy())

  const open = (): Promise<Session> => sessions(db, { driver: sqliteTraits }).open()
  const busyTimeout = (): unknown => handle.pragma('busy_timeout', { simple: true })

  test('SQLite is not let wait for a lock that is held, so the event loop never stands still', async () => {
    const holder = await context.engine.open()
    await holder.begin('immediate')
    const session = await open()
    await expect(session.begin({ mode: 'IMMEDIATE' })).rejects.toMatchObject({ code: 'SQLITE_BUSY' })
    expect(sent.seen().texts).toEqual(['BEGIN IMMEDIATE, busy_timeout 0'])
    await holder.close()
    await session.begin({ mode: 'IMMEDIATE' })
    expect(await context.engine.leftovers()).not.toEqual([])
    await session.commit()
    await session.release()
  })

  test.each(['release', 'destroy'] as const)(
    "after %s the handle's own busy_timeout is as it was",
    async (end) => {
      const session = await open()
      expect(busyTimeout()).toBe(0)
      await session.begin({ mode: 'IMMEDIATE' })
      if (end === 'release') await session.rollback()
      await session[end](why)
      expect(busyTimeout()).toBe(5000)
      expect(handle.inTransaction).toBe(false)
      await sql`select 1`.execute(db)
    },
  )
}
