import { Kysely, PostgresDialect } from 'kysely'
import { createPool as createMariadbPool } from 'mariadb'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockTimeoutError, LockUsageError } from '../../src/core/errors.ts'
import { createLocks as onKysely } from '../../src/entries/kysely.ts'
import { createLocks as onMariadb } from '../../src/entries/mariadb.ts'
import { createLocks as onMysql2 } from '../../src/entries/mysql2.ts'
import { createLocks as onPg } from '../../src/entries/pg.ts'
import { createLocks as onPostgresJs } from '../../src/entries/postgres-js.ts'
import type { SharedLocks } from '../../src/locks.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'

/** Two modules of one program may both make locks of its one pool: a chain of calls may then go through both. */
type Locks = Pick<SharedLocks<object>, 'withLock' | 'acquire' | 'lock' | 'transaction'>

interface Pool {
  readonly make: () => Locks
  readonly end: () => Promise<unknown>
}

const pools: Readonly<
  Record<string, { readonly engines: readonly string[]; readonly open: (url: string) => Pool }>
> = {
  pg: {
    engines: ['postgres'],
    open: (connectionString) => {
      const pool = new pg.Pool({ connectionString, max: 4 })
      return { make: () => onPg(pool) as Locks, end: () => pool.end() }
    },
  },
  'postgres.js': {
    engines: ['postgres'],
    open: (url) => {
      const sql = postgres(url, { max: 4 })
      return { make: () => onPostgresJs(sql) as unknown as Locks, end: () => sql.end() }
    },
  },
  kysely: {
    engines: ['postgres'],
    open: (connectionString) => {
      const db = new Kysely({
        dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 4 }) }),
      })
      return { make: () => onKysely(db, { dialect: 'postgres' }) as Locks, end: () => db.destroy() }
    },
  },
  mysql2: {
    engines: ['mysql', 'mariadb'],
    open: (uri) => {
      const pool = mysql.createPool({ uri, connectionLimit: 4 })
      return { make: () => onMysql2(pool) as Locks, end: () => pool.end() }
    },
  },
  mariadb: {
    engines: ['mariadb'],
    open: (url) => {
      const pool = createMariadbPool(url.replace(/^mysql/, 'mariadb'))
      return { make: () => onMariadb(pool) as Locks, end: () => pool.end() }
    },
  },
}

for (const [title, { engines, open }] of Object.entries(pools)) {
  describe(`two locks on one pool of ${title}`, () => {
    describeEngines((context) => specs(context, open), { only: engines })
  })
}

function specs(context: EngineContext, open: (url: string) => Pool): void {
  let pool: Pool | undefined
  let [one, other]: (Locks | undefined)[] = []
  const both = (): readonly [Locks, Locks] => [one ?? expect.unreachable(), other ?? expect.unreachable()]
  beforeAll(() => {
    pool = open(context.engine.server.url)
    ;[one, other] = [pool.make(), pool.make()]
  })
  afterAll(() => pool?.end())

  const nothing = async (): Promise<string> => 'nothing'
  const again: Readonly<Record<string, (locks: Locks) => Promise<unknown>>> = {
    withLock: (locks) => locks.withLock('k', nothing),
    acquire: (locks) => locks.acquire('k'),
  }

  test.for(Object.keys(again))('%s refuses what the calls around hold by the other locks', async (call) => {
    const [outer, inner] = both()
    const refused = await outer.withLock('k', async () =>
      caught(again[call]?.(inner) ?? expect.unreachable()),
    )
    expect(refused).toBeInstanceOf(LockUsageError)
    expect(refused).toMatchObject({
      field: 'key',
      message: expect.stringContaining('by other locks on the same pool: make them once') as unknown,
    })
  })

  test('a wait that has a limit comes to its end, and another lock is free', async () => {
    const [outer, inner] = both()
    await outer.withLock('k', async () => {
      expect(await caught(inner.withLock('k', nothing, { wait: { timeoutMs: 1 } }))).toBeInstanceOf(
        LockTimeoutError,
      )
      expect(await inner.withLock('another', nothing)).toBe('nothing')
    })
    expect(await inner.withLock('k', nothing)).toBe('nothing')
  })

  test.runIf(context.name === 'postgres')('a lock that both share is granted', async () => {
    const [outer, inner] = both()
    const share = { mode: 'shared' } as const
    expect(await outer.withLock('k', () => inner.withLock('k', nothing, share), share)).toBe('nothing')
  })

  test('the tx of the other is refused by its right name', async () => {
    const [outer, inner] = both()
    const refused = await outer.transaction((tx) => caught(inner.lock(tx, 'k')))
    expect(refused).toBeInstanceOf(LockUsageError)
    expect((refused as Error).message).toContain('belongs to other locks on the same pool')
  })
}
