import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'

import { createLocks as createMysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as createPgLocks, type PgLocksOptions } from '../../src/entries/pg.ts'
import type { Locks } from '../../src/locks.ts'
import type { EngineContext } from '../engines/use.ts'
import { mysqlProtocol, postgresProtocol } from './protocols.ts'
import { startProxy, type Proxy } from './proxy.ts'

/** What both drivers' connections have. */
export interface Tx {
  query(sql: string): Promise<unknown>
}

export interface Subject {
  readonly proxy: Proxy
  readonly locks: Locks<Tx, 'postgres' | 'mysql' | 'mariadb'>
  readonly close: () => Promise<void>
}

/** Locks whose one connection leads through a proxy, logged in already, and a table with one row. */
export function connected(context: EngineContext, options?: PgLocksOptions): () => Subject {
  let subject: Subject | undefined
  beforeAll(async () => {
    const owner = await context.engine.open()
    const rows = [
      'drop table if exists account',
      'create table account (id int primary key, n int not null)',
      'insert into account values (1, 0)',
    ]
    for (const sql of rows) await owner.run({ sql, params: [] })
    await owner.close()
    const { url } = context.engine.server
    subject = await (context.name === 'postgres' ? connectPg(url, options) : connectMysql(url))
    await subject.locks.transaction(async () => {}) // logs in, and asks the server once what it is
  })
  afterAll(() => subject?.close())
  return () => subject ?? expect.unreachable('there is a subject only inside a test')
}

async function connectPg(url: string, options?: PgLocksOptions): Promise<Subject> {
  const proxy = await startProxy(url, postgresProtocol)
  const pool = new pg.Pool({ connectionString: proxy.url, max: 1 })
  const close = (): Promise<void> => pool.end().then(() => proxy.close())
  return { proxy, locks: createPgLocks(pool, options) as unknown as Subject['locks'], close }
}

async function connectMysql(url: string): Promise<Subject> {
  const proxy = await startProxy(url, mysqlProtocol)
  const pool = mysql.createPool({ uri: proxy.url, connectionLimit: 1 })
  const close = (): Promise<void> => pool.end().then(() => proxy.close())
  return { proxy, locks: createMysqlLocks(pool) as unknown as Subject['locks'], close }
}
