import {
  DummyDriver,
  Kysely,
  MssqlAdapter,
  MssqlIntrospector,
  MssqlQueryCompiler,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
  type Dialect,
  type KyselyPlugin,
} from 'kysely'

import { lockPlugin, type LockPluginOptions } from '../../src/adapters/kysely/plugin.ts'
import { emit } from '../../src/emit.ts'
import type { DialectName } from '../../src/registry.ts'
import type { Database } from './database.ts'

/** A server, and how its kind of lock looks in a statement. */
export interface TestServer {
  readonly dialect: DialectName
  readonly version: string
  /** Kysely's own dialect, with its real compiler and no database behind it. */
  readonly kysely: Dialect
  /** The words of a lock. Absent where the transaction is the lock. */
  readonly lockWords?: RegExp
}

const createDriver = (): DummyDriver => new DummyDriver()

const postgres: Dialect = {
  createDriver,
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}
const mysql: Dialect = {
  createDriver,
  createAdapter: () => new MysqlAdapter(),
  createIntrospector: (db) => new MysqlIntrospector(db),
  createQueryCompiler: () => new MysqlQueryCompiler(),
}
const sqlite: Dialect = {
  createDriver,
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}
const mssql: Dialect = {
  createDriver,
  createAdapter: () => new MssqlAdapter(),
  createIntrospector: (db) => new MssqlIntrospector(db),
  createQueryCompiler: () => new MssqlQueryCompiler(),
}

const clauses = /FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|LOCK IN SHARE MODE/
const hints = /WITH \((UPDLOCK|REPEATABLEREAD), /

export const servers: readonly TestServer[] = [
  { dialect: 'postgres', version: '18', kysely: postgres, lockWords: clauses },
  { dialect: 'mysql', version: '8.4', kysely: mysql, lockWords: clauses },
  { dialect: 'mysql', version: '5.7.44', kysely: mysql, lockWords: clauses },
  { dialect: 'mariadb', version: '10.6', kysely: mysql, lockWords: clauses },
  { dialect: 'mariadb', version: '10.3', kysely: mysql, lockWords: clauses },
  { dialect: 'sqlite', version: '3.45', kysely: sqlite },
  { dialect: 'mssql', version: '2022', kysely: mssql, lockWords: hints },
]

export function serverOf(name: DialectName): TestServer {
  const found = servers.find(({ dialect }) => dialect === name)
  if (found === undefined) throw new Error(`no ${name} here`)
  return found
}

/** The plans of a server, as the plugin asks for them. */
export function plansOf({
  dialect,
  version,
}: Pick<TestServer, 'dialect' | 'version'>): LockPluginOptions['planFor'] {
  return (request) =>
    emit({ dialect, version }, request.mode === 'shared' ? 'row-shared' : 'row-exclusive', request)
}

/** Kysely with the plugin, in a transaction that holds whatever is asked. */
export function lockingKysely(server: TestServer, others: readonly KyselyPlugin[] = []): Kysely<Database> {
  const plugin = lockPlugin({ planFor: plansOf(server), requireTransaction: () => {} })
  return new Kysely<Database>({ dialect: server.kysely, plugins: [...others, plugin] })
}

export function sqlOf(query: Compilable): string {
  return query.compile().sql
}
