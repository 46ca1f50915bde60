import Database from 'better-sqlite3'
import { Kysely, PostgresDialect } from 'kysely'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { expect, test } from 'vitest'

import * as sqliteAdapter from '../../src/adapters/better-sqlite3/sessions.ts'
import * as kyselyAdapter from '../../src/adapters/kysely/sessions.ts'
import * as mysql2Adapter from '../../src/adapters/mysql2/sessions.ts'
import * as pgAdapter from '../../src/adapters/pg/sessions.ts'
import { traits as pgTraits } from '../../src/adapters/pg/traits.ts'
import type { Sessions } from '../../src/core/session.ts'
import { joinLocks } from '../../src/locks.ts'
import { registry } from '../../src/registry.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { forgeWay } from '../orms/forge-way.ts'
import { observedIn } from './stage.ts'

interface Small {
  readonly sessions: Sessions
  readonly close: () => Promise<unknown>
}

/** Ways to an engine with one connection in all. */
const ways: Readonly<Record<string, Readonly<Record<string, (url: string) => Small | Promise<Small>>>>> = {
  postgres: {
    pg: (url) => {
      const pool = new pg.Pool({ connectionString: url, max: 1 })
      return { sessions: pgAdapter.sessions(pool), close: () => pool.end() }
    },
    kysely: (url) => {
      const pool = new pg.Pool({ connectionString: url, max: 1 })
      const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
      return { sessions: kyselyAdapter.sessions(db, { driver: pgTraits }), close: () => db.destroy() }
    },
  },
  mysql: { mysql2: throughMysql2 },
  mariadb: { mysql2: throughMysql2 },
  sqlite: {
    'one handle': (url) => {
      const database = new Database(url)
      return { sessions: sqliteAdapter.sessions(database), close: async () => database.close() }
    },
    forge: (url) => forgeWay.connect('sqlite', url, 1),
  },
}

function throughMysql2(url: string): Small {
  const pool = mysql.createPool({ uri: url, connectionLimit: 1 })
  return { sessions: mysql2Adapter.sessions(pool), close: () => pool.end() }
}

describeEngines(specs, { only: Object.keys(ways) })

function specs(context: EngineContext): void {
  test.each(Object.entries(ways[context.name] ?? {}))(
    'with one connection through %s nothing is tried, and that is told',
    async (_, open) => {
      const { sessions, close } = await open(context.engine.server.url)
      const locks = joinLocks(sessions, [registry[context.name as 'postgres']])
      const attestation = await locks.attest()
      const tried = attestation.capabilities.filter(({ observed }) => observed !== 'refused')
      expect(tried.length).toBeGreaterThan(6)
      for (const { observed, detail } of tried) {
        expect(observed).toBe('untried')
        expect(detail).toMatch(/a second connection is needed/)
      }
      // the one that it has is free again
      expect(await locks.transaction(async () => 'in')).toBe('in')
      expect(observedIn(attestation)).not.toContain('broken')
      await close()
    },
  )
}
