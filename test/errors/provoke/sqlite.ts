import Database from 'better-sqlite3'

import type { Provocations, Scenario } from '../scenario.ts'
import { errorOf } from '../stage.ts'
import { sql } from './sql.ts'

/** A transaction that has the file's one write lock. */
const withWriter =
  (act: Scenario['run']): Scenario['run'] =>
  async (stage) => {
    const writer = await stage.open()
    await writer.begin('immediate')
    return act(stage)
  }

/** A statement in a transaction that has the write lock itself. */
const inTransaction =
  (statement: string, before = 'select 1'): Scenario['run'] =>
  async (stage) => {
    const session = await stage.victim('immediate')
    await session.run(sql(before))
    return { session, error: await errorOf(session.run(sql(statement))) }
  }

const scenarios: readonly Scenario[] = [
  {
    name: 'BEGIN IMMEDIATE while another has the write lock',
    expect: { kind: 'busy', transaction: 'open', key: 'SQLITE_BUSY' },
    run: withWriter(async (stage) => {
      const session = await stage.open()
      return { error: await errorOf(session.begin('immediate')) }
    }),
  },
  {
    name: 'the first write of a transaction while another has the write lock',
    expect: { kind: 'busy', transaction: 'open', key: 'SQLITE_BUSY' },
    run: withWriter(async (stage) => {
      const session = await stage.open()
      await session.begin()
      await session.run(sql('select * from items'))
      return { session, error: await errorOf(session.run(sql('update items set n = 1'))) }
    }),
  },
  {
    name: 'the first write of a transaction whose snapshot is no longer the newest',
    expect: { kind: 'serialization', transaction: 'open', key: 'SQLITE_BUSY_SNAPSHOT' },
    run: async (stage) => {
      const session = await stage.open()
      await session.begin()
      await session.run(sql('select * from items'))
      await (await stage.open()).run(sql('update items set n = 1'))
      return { session, error: await errorOf(session.run(sql('update items set n = 2'))) }
    },
  },
  {
    name: 'a primary key twice',
    expect: { kind: 'unique-violation', transaction: 'open', key: 'SQLITE_CONSTRAINT_PRIMARYKEY' },
    run: inTransaction('insert into items values (1, 0)'),
  },
  {
    name: 'a unique value twice',
    expect: { kind: 'unique-violation', transaction: 'open', key: 'SQLITE_CONSTRAINT_UNIQUE' },
    run: inTransaction("insert into named values ('a')", "insert into named values ('a')"),
  },
  {
    name: 'a row number twice',
    expect: { kind: 'unique-violation', transaction: 'open', key: 'SQLITE_CONSTRAINT_ROWID' },
    run: inTransaction("insert into marks (rowid, name) values (1, 'b')"),
  },
  {
    name: 'an error that is not about locks',
    expect: { kind: 'other', transaction: 'open', key: 'SQLITE_CONSTRAINT_NOTNULL' },
    run: inTransaction('insert into items values (3, null)'),
  },
  {
    name: 'a file that may not grow',
    expect: { kind: 'other', transaction: 'unknown', key: 'SQLITE_FULL' },
    run: async (stage) => {
      const database = new Database(stage.engine.server.url, { timeout: 0 })
      stage.afterwards(() => database.close())
      database.pragma('max_page_count = 1')
      return {
        error: await errorOf((async () => database.exec('create table grown (x); create table more (x)'))()),
      }
    },
  },
  {
    name: 'a statement on a connection that was closed',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'The database connection is not open' },
    run: async (stage) => {
      const session = await stage.victim('immediate')
      await stage.engine.kill(session)
      return { session, error: await errorOf(session.run(sql('select 1'))) }
    },
  },
]

const noSharing =
  'better-sqlite3 is built without the shared cache and locks its own connection while it reads'

const sqlite: Provocations = {
  setUp: [
    sql('create table items (id integer primary key, n integer not null)'),
    sql('create table marks (name text not null)'),
    sql('create table named (name text unique)'),
  ],
  reset: [sql('delete from marks'), sql('delete from items'), sql('insert into items values (1, 0), (2, 0)')],
  mark: (name) => sql('insert into marks values (?)', name),
  marks: sql('select name from marks'),
  scenarios,
  notProvoked: {
    SQLITE_BUSY_RECOVERY: 'lasts for an instant after a process has died',
    SQLITE_BUSY_TIMEOUT: 'only where SQLite is built to wait with locks of the operating system',
    SQLITE_LOCKED: noSharing,
    SQLITE_LOCKED_SHAREDCACHE: noSharing,
    SQLITE_LOCKED_VTAB: noSharing,
    SQLITE_PROTOCOL: 'takes a race that is lost many times in a row',
    'database is not open':
      'is what node:sqlite says, which the oldest Node does not have: its own test provokes it',
    SQLITE_INTERRUPT: 'better-sqlite3 has no way to interrupt a statement',
    SQLITE_IOERR: 'takes a broken disk',
    SQLITE_NOMEM: 'takes a machine without memory',
  },
}

export default sqlite
