import { Kysely, sql } from 'kysely'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'

import { createLocks as kyselyLocks, type KyselyDialectName } from '../../src/entries/kysely.ts'
import { createLocks as mariadbLocks } from '../../src/entries/mariadb.ts'
import { createLocks as mysql2Locks } from '../../src/entries/mysql2.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { createLocks as postgresJsLocks } from '../../src/entries/postgres-js.ts'
import type { Locks } from '../../src/locks.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'
import { dialects, type ServerName } from '../entries/kysely-dialects.ts'

/** The locks of one library, and how an application sends a statement of its own. */
export interface Way<Tx = unknown> {
  readonly locks: Pick<Locks<Tx, 'sqlite'>, keyof Locks<Tx>>
  readonly run: (tx: Tx, text: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

interface Library {
  readonly title: string
  readonly engines: readonly string[]
  readonly connect: (url: string, engine: string, size?: number) => Way
}

function asWay<Tx>(way: Way<Tx>): Way {
  return way as unknown as Way
}

export const libraries: readonly Library[] = [
  {
    title: 'pg',
    engines: ['postgres'],
    connect: (url, _, size = 3) => {
      const pool = new pg.Pool({ connectionString: url, max: size })
      pool.on('error', () => {})
      return asWay<pg.PoolClient>({
        locks: pgLocks(pool),
        run: (tx, text) => tx.query(text),
        close: () => pool.end(),
      })
    },
  },
  {
    title: 'postgres.js',
    engines: ['postgres'],
    connect: (url, _, size = 3) => {
      const client = postgres(url, { max: size, onnotice: () => {} })
      return asWay<postgres.Sql>({
        locks: postgresJsLocks(client) as unknown as Way<postgres.Sql>['locks'],
        run: (tx, text) => tx.unsafe(text),
        close: () => client.end(),
      })
    },
  },
  {
    title: 'mysql2',
    engines: ['mysql', 'mariadb'],
    connect: (url, _, size = 3) => {
      const pool = mysql.createPool({ uri: url, connectionLimit: size })
      return asWay<mysql.PoolConnection>({
        locks: mysql2Locks(pool),
        run: (tx, text) => tx.query(text),
        close: () => pool.end(),
      })
    },
  },
  {
    title: 'the connector of MariaDB',
    engines: ['mariadb'],
    connect: (url, _, size = 3) => {
      const pool = mariadbPool(url, { connectionLimit: size })
      return asWay<{ query: (text: string) => Promise<unknown> }>({
        locks: mariadbLocks(pool) as never,
        run: (tx, text) => tx.query(text),
        close: () => pool.end(),
      })
    },
  },
  {
    title: 'Kysely',
    engines: ['postgres', 'mysql', 'mariadb'],
    connect: (url, engine, size = 3) => {
      const db = new Kysely<object>({ dialect: dialects[engine as ServerName](url, size) })
      return asWay<Kysely<object>>({
        locks: kyselyLocks(db, { dialect: engine as KyselyDialectName }) as never,
        run: (tx, text) => sql.raw(text).execute(tx),
        close: () => db.destroy(),
      })
    },
  },
]
