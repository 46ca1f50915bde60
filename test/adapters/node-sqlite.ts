import type { NodeSqliteDatabase, NodeSqliteStatement } from '../../src/adapters/node-sqlite/sessions.ts'

/** `DatabaseSync` as the tests use it: the types of the oldest Node that they run on do not have it. */
export interface NodeSqlite extends NodeSqliteDatabase {
  prepare(sql: string): Statement
}

interface Statement extends NodeSqliteStatement {
  all(...params: unknown[]): unknown[]
  get(...params: unknown[]): unknown
  run(...params: unknown[]): unknown
  iterate(...params: unknown[]): Iterable<unknown>
}

type DatabaseSync = new (path: string, options?: { readonly timeout?: number }) => NodeSqlite

interface BuiltIn {
  getBuiltinModule?(name: string): { readonly DatabaseSync: DatabaseSync } | undefined
}

/** Undefined where this Node has no `node:sqlite`, or one that is too old. */
export const nodeSqlite: DatabaseSync | undefined = found()

function found(): DatabaseSync | undefined {
  const kind = (process as BuiltIn).getBuiltinModule?.('node:sqlite')?.DatabaseSync
  return kind !== undefined && 'isTransaction' in new kind(':memory:') ? kind : undefined
}
