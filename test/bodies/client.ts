import { Kysely, MysqlDialect, PostgresDialect, sql, type Transaction } from 'kysely'
import type { PoolConnection } from 'mariadb'
import mysqlCallbacks from 'mysql2'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, beforeEach, describe } from 'vitest'

import type { Row } from '../../src/core/statement.ts'
import { createLocks as kyselyLocks } from '../../src/entries/kysely.ts'
import { createLocks as mariadbLocks } from '../../src/entries/mariadb.ts'
import { createLocks as mysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import type { SharedLocks } from '../../src/locks.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import type { Queue } from '../../src/locks/queue/queue-definition.ts'
import type { RowOptions } from '../../src/locks/rows/rows.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'
import { contextWith, describeEngines, type EngineContext } from '../engines/use.ts'

/** A pool with locks on it, whatever the driver, and nobody who listens to connections that are lent. The work's transaction is looked into only here. */
export interface Client {
  readonly locks: SharedLocks<unknown>
  /** Locks the row of the table `item` that has this number. */
  readonly lockItem: (tx: unknown, id: number, options?: RowOptions) => Promise<unknown>
  /** Sends a text in the transaction; without one, on any connection of the pool. */
  readonly query: (tx: unknown, text: string) => Promise<readonly Row[]>
  readonly close: () => Promise<void>
}

/** A way into the library that sends statements to a server. */
export interface ClientKind {
  readonly title: string
  readonly connect: (url: string, size: number) => Client
}

interface Items {
  item: { id: number; n: number }
}

function onPg(url: string, max: number, options: { readonly pipeline?: boolean } = {}): Client {
  const pool = new pg.Pool({ connectionString: url, max })
  const locks = pgLocks(pool, options)
  return {
    locks: locks as SharedLocks<unknown>,
    lockItem: (tx, id, row) => locks.rows(tx as pg.PoolClient, `select * from item where id = ${id}`, row),
    query: async (tx, text) => (await ((tx as pg.PoolClient | undefined) ?? pool).query<Row>(text)).rows,
    close: () => pool.end(),
  }
}

function onMysql2(uri: string, connectionLimit: number): Client {
  const pool = mysql.createPool({ uri, connectionLimit })
  const locks = mysqlLocks(pool)
  return {
    locks: locks as SharedLocks<unknown>,
    lockItem: (tx, id, row) =>
      locks.rows(tx as mysql.PoolConnection, `select * from item where id = ${id}`, row),
    query: async (tx, text) => {
      const [answer] = await ((tx as mysql.PoolConnection | undefined) ?? pool).query(text)
      return Array.isArray(answer) ? (answer as Row[]) : []
    },
    close: () => pool.end(),
  }
}

function onMariadb(url: string, connectionLimit: number): Client {
  const pool = mariadbPool(url, { connectionLimit })
  const locks = mariadbLocks(pool)
  return {
    locks: locks as SharedLocks<unknown>,
    lockItem: (tx, id, row) => locks.rows(tx as PoolConnection, `select * from item where id = ${id}`, row),
    query: async (tx, text) => {
      const answer = await ((tx as PoolConnection | undefined) ?? pool).query<unknown>(text)
      return Array.isArray(answer) ? (answer as Row[]) : []
    },
    close: () => pool.end(),
  }
}

const kyselyDialects = {
  postgres: (url: string, max: number) => {
    const pool = new pg.Pool({ connectionString: url, max })
    pool.on('error', () => {}) // of idle connections that no lock has used
    return new PostgresDialect({ pool })
  },
  mysql: (uri: string, connectionLimit: number) =>
    new MysqlDialect({ pool: mysqlCallbacks.createPool({ uri, connectionLimit }) }),
}

function onKysely(name: 'postgres' | 'mysql' | 'mariadb', url: string, size: number): Client {
  const db = new Kysely<Items>({ dialect: kyselyDialects[name === 'mariadb' ? 'mysql' : name](url, size) })
  const locks = kyselyLocks(db, { dialect: name })
  return {
    locks: locks as SharedLocks<unknown>,
    lockItem: (tx, id, row) => {
      const trx = tx as Transaction<Items>
      return locks.rows(trx, trx.selectFrom('item').selectAll().where('id', '=', id), row)
    },
    query: async (tx, text) =>
      (await sql<Row>`${sql.raw(text)}`.execute((tx as Transaction<Items> | undefined) ?? db)).rows,
    close: () => db.destroy(),
  }
}

const kinds: Readonly<Record<string, readonly ClientKind[]>> = {
  postgres: [
    { title: 'pg', connect: onPg },
    { title: 'pg with pipeline', connect: (url, size) => onPg(url, size, { pipeline: true }) },
    { title: 'Kysely', connect: (url, size) => onKysely('postgres', url, size) },
  ],
  mysql: [
    { title: 'mysql2', connect: onMysql2 },
    { title: 'mariadb', connect: onMariadb },
    { title: 'Kysely', connect: (url, size) => onKysely('mysql', url, size) },
  ],
  mariadb: [
    { title: 'mysql2', connect: onMysql2 },
    { title: 'mariadb', connect: onMariadb },
    { title: 'Kysely', connect: (url, size) => onKysely('mariadb', url, size) },
  ],
}

/** The table `job` as a queue. */
export const jobs: Queue = queue({
  table: 'job',
  id: 'id',
  orderBy: 'id',
  claim: { token: 'token', until: 'until_ms' },
  done: 'delete',
  visibilityMs: 1500,
})

/** What the specs of one way into the library have, inside tests and hooks. */
export interface Scene extends EngineContext {
  readonly kind: EngineContext['kind']
  readonly title: string
  /** One more pool of this size; closed after the test. `url`: another way to the same server. */
  readonly connect: (size: number, url?: string) => Client
}

/**
 * Runs the specs for each way into the library to each server, each with a database of its own: they can run side by
 * side. Before each test there are items 1 and 2, and two jobs.
 */
export function describeClients(
  specs: (scene: Scene) => void,
  only: readonly string[] = Object.keys(kinds),
): void {
  for (const engine of only) {
    for (const kind of kinds[engine] ?? []) {
      describeEngines(
        (context) => {
          describe(kind.title, () => {
            specs(sceneOf(context, kind))
          })
        },
        { only: [engine] },
      )
    }
  }
}

function sceneOf(context: EngineContext, { title, connect }: ClientKind): Scene {
  const opened: Client[] = []
  beforeEach(() => makeItems(context))
  afterEach(async () => {
    // one whose network was cut cannot say goodbye
    for (const client of opened.splice(0)) await client.close().catch(() => {})
  })
  return contextWith(context, {
    title,
    connect: (size, url = context.engine.server.url) => {
      const client = connect(url, size)
      opened.push(client)
      return client
    },
  })
}

async function makeItems({ engine }: EngineContext): Promise<void> {
  const session = await engine.open()
  for (const text of [
    'DROP TABLE IF EXISTS item',
    'CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)',
    'INSERT INTO item VALUES (1, 0), (2, 0)',
    'DROP TABLE IF EXISTS job',
    'CREATE TABLE job (id INTEGER PRIMARY KEY, token VARCHAR(36), until_ms BIGINT)',
    'INSERT INTO job (id) VALUES (1), (2)',
  ]) {
    await session.run({ sql: text, params: [] })
  }
  await session.close()
}
