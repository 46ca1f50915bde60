import type { DuckDBConnection } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import type { PoolConnection } from 'mariadb'
import { MongoClient, type ClientSession, type Db } from 'mongodb'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'

import type { Target } from '../../src/core/request.ts'
import { createLocks as betterSqlite3 } from '../../src/entries/better-sqlite3.ts'
import { createLocks as duckdb } from '../../src/entries/duckdb.ts'
import { createLocks as mariadb } from '../../src/entries/mariadb.ts'
import { createLocks as mongodb, type MongodbTransaction } from '../../src/entries/mongodb.ts'
import { createLocks as mysql2 } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { createLocks as postgresJs } from '../../src/entries/postgres-js.ts'
import type { Locks } from '../../src/locks.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import type { Engine } from '../engines/engine.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'

/** One way into the library, and the engines that it reaches. */
export interface Subject<Tx> {
  readonly title: string
  readonly engines: readonly string[]
  readonly connect: (url: string) => Promise<Entry<Tx>>
}

/** The locks, and how an application uses the driver on its own beside them. */
export interface Entry<Tx> {
  /** Of the dialect that can do least: what compiles here compiles for all. */
  readonly locks: Pick<Locks<Tx, 'duckdb'>, keyof Locks<Tx>>
  readonly increment: (tx: Tx) => Promise<unknown>
  readonly read: (tx: Tx) => Promise<number>
  /** Ends the connection under the work, as a server would. */
  readonly kill: (tx: Tx, engine: Engine) => Promise<void>
  /** What the server calls the connection; absent where there is no server. */
  readonly idOf?: (tx: Tx) => string | Promise<string>
  readonly close: () => Promise<void>
}

/** The row of every engine's sample. */
export function counterOf(engine: string): Target {
  return { table: 'counter', key: engine === 'mongodb' ? { _id: 1 } : { id: 1 } }
}

const increment = 'update counter set n = n + 1 where id = 1'
const read = 'select n from counter where id = 1'

const onPg: Subject<pg.PoolClient> = {
  title: 'pg',
  engines: ['postgres'],
  connect: async (url) => {
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    pool.on('error', () => {})
    return {
      locks: pgLocks(pool),
      increment: (tx) => tx.query(increment),
      read: async (tx) => (await tx.query<{ n: number }>(read)).rows[0]?.n ?? Number.NaN,
      kill: (tx, engine) => killById(engine, idOfPg(tx)),
      idOf: idOfPg,
      close: () => pool.end(),
    }
  },
}

function idOfPg(tx: pg.PoolClient): string {
  return String((tx as unknown as { processID: number }).processID)
}

const onPostgresJs: Subject<postgres.TransactionSql> = {
  title: 'postgres.js',
  engines: ['postgres'],
  connect: async (url) => {
    const sql = postgres(url, { max: 2 })
    return {
      locks: postgresJs(sql),
      increment: (tx) => tx.unsafe(increment),
      read: async (tx) => Number((await tx.unsafe<{ n: number }[]>(read))[0]?.n),
      kill: async (tx, engine) => killById(engine, await idOfPostgresJs(tx)),
      idOf: idOfPostgresJs,
      close: () => sql.end({ timeout: 5 }),
    }
  },
}

async function idOfPostgresJs(tx: postgres.TransactionSql): Promise<string> {
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
  return String(row?.pid)
}

const onMysql2: Subject<mysql.PoolConnection> = {
  title: 'mysql2',
  engines: ['mysql', 'mariadb'],
  connect: async (url) => {
    const pool = mysql.createPool({ uri: url, connectionLimit: 2 })
    return {
      locks: mysql2(pool),
      increment: (tx) => tx.query(increment),
      read: async (tx) => Number((await tx.query<mysql.RowDataPacket[]>(read))[0][0]?.n),
      kill: (tx, engine) => killById(engine, String(tx.threadId)),
      idOf: (tx) => String(tx.threadId),
      close: () => pool.end(),
    }
  },
}

const onMariadb: Subject<PoolConnection> = {
  title: 'mariadb',
  engines: ['mysql', 'mariadb'],
  connect: async (url) => {
    const pool = mariadbPool(url)
    return {
      locks: mariadb(pool),
      increment: (tx) => tx.query(increment),
      read: async (tx) => Number((await tx.query<readonly { n: number }[]>(read))[0]?.n),
      kill: (tx, engine) => killById(engine, String(tx.threadId)),
      idOf: (tx) => String(tx.threadId),
      close: () => pool.end(),
    }
  },
}

const onBetterSqlite3: Subject<Database.Database> = {
  title: 'better-sqlite3',
  engines: ['sqlite'],
  connect: async (url) => ({
    locks: betterSqlite3(() => new Database(url)),
    increment: async (tx) => tx.prepare(increment).run(),
    read: async (tx) => (tx.prepare(read).get() as { n: number }).n,
    // past tx, which refuses it
    kill: async (tx) => void Database.prototype.close.call(tx),
    close: async () => {},
  }),
}

const onDuckdb: Subject<DuckDBConnection> = {
  title: 'duckdb',
  engines: ['duckdb'],
  connect: async (url) => ({
    // the instance of the cache is the engine's own, which closes it
    locks: duckdb(await (await loadDuckdb()).DuckDBInstance.fromCache(url)),
    increment: (tx) => tx.run(increment),
    read: async (tx) => Number((await tx.runAndReadAll(read)).getRowObjectsJS()[0]?.n),
    kill: async (tx) => tx.disconnectSync(),
    close: async () => {},
  }),
}

const onMongodb: Subject<MongodbTransaction<ClientSession, Db>> = {
  title: 'mongodb',
  engines: ['mongodb'],
  connect: async (url) => {
    const client = await new MongoClient(url).connect()
    return {
      locks: mongodb(client),
      increment: ({ session, db }) =>
        db.collection<Counter>('counter').updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session }),
      read: async ({ session, db }) =>
        (await db.collection<Counter>('counter').findOne({ _id: 1 }, { session }))?.n ?? Number.NaN,
      kill: async ({ session, db }) => {
        await db.collection('counter').findOne({}, { session }) // the server hears of a session with its first command
        await db.admin().command({ killSessions: [session.id] })
      },
      close: () => client.close(),
    }
  },
}

interface Counter {
  readonly _id: number
  readonly n: number
}

async function killById(engine: Engine, id: string): Promise<void> {
  const other = await engine.open()
  await engine.kill({ ...other, id }).finally(() => other.close())
}

function hide<Tx>(subject: Subject<Tx>): Subject<unknown> {
  return subject as unknown as Subject<unknown>
}

export const subjects: readonly Subject<unknown>[] = [
  hide(onPg),
  hide(onPostgresJs),
  hide(onMysql2),
  hide(onMariadb),
  hide(onBetterSqlite3),
  hide(onDuckdb),
  hide(onMongodb),
]
