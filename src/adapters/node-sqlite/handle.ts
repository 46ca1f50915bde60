import { LockUsageError } from '../../core/errors.ts'
import type { SqliteDatabase } from '../better-sqlite3/sessions.ts'

/** What is used of `DatabaseSync` of `node:sqlite`. */
export interface NodeSqliteDatabase {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  prepare(sql: string): NodeSqliteStatement
  exec(sql: string): unknown
  close(): unknown
  location?(): string | null
}

/** What is used of a `StatementSync` of `node:sqlite`. */
export interface NodeSqliteStatement {
  all(...params: never[]): unknown[]
  run(...params: never[]): unknown
  columns(): readonly unknown[]
}

/** One for the life of the handle: what waits for a turn on it waits for the same object. */
const handles = new WeakMap<NodeSqliteDatabase, SqliteDatabase>()

/** The handle in the words of `better-sqlite3`, for all that sits on one. What it has of its own, it keeps. */
export function handleOf(database: NodeSqliteDatabase): SqliteDatabase {
  const known = handles.get(database)
  if (known !== undefined) return known
  if (!('isTransaction' in database) || !('isOpen' in database))
    throw new LockUsageError('source', 'is not a DatabaseSync of Node 22.16 or newer')
  const handle = withOwn(database, {
    // a handle that is closed refuses to tell
    inTransaction: () => database.isOpen && database.isTransaction,
    open: () => database.isOpen,
    memory: () => database.location?.() === null,
    pragma: () => (source: string) => database.prepare(`PRAGMA ${source}`).all(),
    prepare: () => (sql: string) => {
      const statement = database.prepare(sql)
      return withOwn(statement, { reader: () => statement.columns().length > 0 })
    },
  }) as SqliteDatabase
  handles.set(database, handle)
  return handle
}

/** The object with these members besides. Its methods are called on itself: they know no proxy. */
function withOwn(object: object, own: Readonly<Record<string, () => unknown>>): object {
  return new Proxy(object, {
    get: (_, name) => {
      if (typeof name === 'string' && Object.hasOwn(own, name)) return own[name]?.()
      const value: unknown = Reflect.get(object, name, object)
      return typeof value === 'function' && name !== 'constructor' ? (value.bind(object) as unknown) : value
    },
  })
}
