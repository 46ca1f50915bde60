import { Kysely, PostgresDialect } from 'kysely'
import mysql from 'mysql2/promise'
import pg from 'pg'

import * as kyselyAdapter from '../../src/adapters/kysely/sessions.ts'
import * as mysql2Adapter from '../../src/adapters/mysql2/sessions.ts'
import * as pgAdapter from '../../src/adapters/pg/sessions.ts'
import { traits as pgTraits } from '../../src/adapters/pg/traits.ts'
import type { Session, Sessions } from '../../src/core/session.ts'
import type { Port } from '../../src/locks/port.ts'
import { createProbe } from '../../src/locks/named/probe.ts'
import { registry, type DialectName } from '../../src/registry.ts'

/** Connections to one address, and the check of what their locks are worth. */
export interface Guarded {
  readonly sessions: Sessions
  readonly probe: (session: Session) => Promise<void>
  /** Opens a connection, checks it, and gives it back. */
  readonly check: () => Promise<void>
  readonly close: () => Promise<void>
}

export type Connect = (url: string, max?: number) => Guarded

export const throughPg: Connect = (url, max = 2) => {
  const pool = pgPool(url, max)
  return guard(pgAdapter.sessions(pool), 'postgres', () => pool.end())
}

export const throughKysely: Connect = (url, max = 2) => {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: pgPool(url, max) }) })
  return guard(kyselyAdapter.sessions(db, { driver: pgTraits }), 'postgres', () => db.destroy())
}

/** `dialect` is what the server really is. */
export function throughMysql2(url: string, dialect: 'mysql' | 'mariadb'): Guarded {
  const pool = mysql.createPool({ uri: url, connectionLimit: 2 })
  return guard(mysql2Adapter.sessions(pool), dialect, () => pool.end())
}

function guard(sessions: Sessions, name: DialectName, close: () => Promise<void>): Guarded {
  const dialect = registry[name]
  const port: Port<unknown> = {
    sessions,
    server: async () => ({ dialect, version: dialect.readVersion(dialect.versions.assumed) }),
  }
  const probe = createProbe(port)
  const check = async (): Promise<void> => {
    const session = await sessions.open()
    await probe(session).finally(() => session.release())
  }
  return { sessions, probe, check, close }
}

function pgPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
