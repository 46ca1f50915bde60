import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

import Database from 'better-sqlite3'

import { isSql, type Row, type Value } from '../../src/core/statement.ts'
import { embeddedSource } from './embedded-source.ts'
import type { Engine, EngineKind, EngineSample, EngineSession, Server } from './engine.ts'
import { databaseName } from './own-database.ts'

// SQLite's own wait sleeps on the JavaScript thread, where the holder could then never finish: never wait.
const connection = (file: string): Database.Database => new Database(file, { timeout: 0 })

function version(): string {
  const memory = new Database(':memory:')
  const answer = memory.prepare('select sqlite_version()').pluck().get()
  memory.close()
  return String(answer)
}

/** The driver binds no booleans and no dates, and every number as a REAL. */
function toSqlite(value: Value): string | number | bigint | null | Uint8Array {
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
}

/** Integers come as bigint, so that none loses digits; those that a number holds exactly become numbers again. */
function fromSqlite(row: Row): Row {
  const number = (value: unknown): unknown =>
    typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, number(value)]))
}

function query(database: Database.Database, sql: string, params: readonly Value[] = []): readonly Row[] {
  const statement = database.prepare<unknown[], Row>(sql)
  const values = params.map(toSqlite)
  if (statement.reader)
    return statement
      .safeIntegers()
      .all(...values)
      .map(fromSqlite)
  statement.run(...values)
  return []
}

function sessionOf(database: Database.Database, id: string): EngineSession {
  const say = async (sql: string): Promise<void> => void query(database, sql)
  return {
    id,
    run: async (statement) => {
      if (!isSql(statement)) throw new Error('SQLite runs SQL statements only')
      return query(database, statement.sql, statement.params)
    },
    begin: (mode) => say(mode === undefined ? 'begin' : `begin ${mode}`),
    commit: () => say('commit'),
    rollback: () => say('rollback'),
    close: async () => void database.close(), // rolls back what is open
  }
}

/** Whether some connection, of this process or of another one, has the database's one write lock. */
function hasWriter(observer: Database.Database): boolean {
  try {
    observer.exec('begin immediate')
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return true
    throw error
  }
  observer.exec('rollback')
  return false
}

/** Makes a database file in the server's folder. Other processes may open it too. */
async function connect(server: Server): Promise<Engine> {
  const file = join(server.url, `${databaseName()}.sqlite`)
  const observer = connection(file)
  observer.pragma('journal_mode = wal')
  const open = new Map<string, Database.Database>()
  let opened = 0
  return {
    server: { ...server, url: file },
    canObserveWaiting: false, // nobody ever waits
    isWaiting: () => turn(false), // who asks in a loop must let the rest of this process go on
    open: async () => {
      const id = `connection ${(opened += 1)}` // SQLite itself has no name for a connection
      const database = connection(file)
      open.set(id, database)
      return sessionOf(database, id)
    },
    kill: async ({ id }) => void open.get(id)?.close(), // there is no server side: this is all that can be done to it
    leftovers: async () => [
      ...[...open].filter(([, { inTransaction }]) => inTransaction).map(([id]) => `${id}: open transaction`),
      ...(hasWriter(observer) ? ['the write lock is held'] : []), // a reader of another process leaves no trace
    ],
    close: async () => {
      for (const database of [...open.values(), observer]) database.close()
      for (const ending of ['', '-wal', '-shm']) await rm(`${file}${ending}`, { force: true })
    },
  }
}

const sample: EngineSample = {
  setUp: [
    { sql: 'create table counter (id integer primary key, n integer not null)', params: [] },
    { sql: 'insert into counter values (1, 0)', params: [] },
  ],
  increment: { sql: 'update counter set n = n + 1 where id = ?', params: [1] },
  read: { sql: 'select n from counter where id = ?', params: [1] },
  contests: [
    {
      over: 'the write lock',
      hold: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
      want: { sql: 'update counter set n = n + 0 where id = 1', params: [] },
    },
    {
      over: 'the write lock, by its mode',
      mode: 'immediate',
      hold: { sql: 'select n from counter', params: [] },
      want: { sql: 'select n from counter', params: [] },
    },
  ],
}

const sqlite: EngineKind = {
  name: 'sqlite',
  sources: [embeddedSource({ engine: 'sqlite', version })],
  connect,
  sample,
}

export default sqlite
