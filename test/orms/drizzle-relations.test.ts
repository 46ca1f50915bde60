import { relations, type Table } from 'drizzle-orm'
import { drizzle as overSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as overMysql } from 'drizzle-orm/mysql2'
import { drizzle as overPg } from 'drizzle-orm/node-postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { createLocks, type DrizzleLocks } from '../../src/entries/drizzle.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { drizzle, openDrizzle } from './drizzle.ts'
import { accounts } from './stage.ts'

describeEngines(specs, { only: drizzle.engines })

interface RelationalTx {
  readonly query: { readonly account: { findMany: (config: object) => never } }
}

type Mode = 'default' | 'planetscale'

type Opened = ReturnType<typeof openDrizzle>

const modes: Readonly<Record<string, readonly Mode[]>> = {
  mysql: ['default', 'planetscale'],
  mariadb: ['default', 'planetscale'],
}

function specs(context: EngineContext): void {
  let opened: Opened
  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
    opened = openDrizzle(context.name, context.engine.server.url, 2)
  })
  afterEach(() => opened.close())

  /** Each account belongs to itself. */
  const locksIn = (mode: Mode): DrizzleLocks<RelationalTx, 'postgres'> => {
    const { db, account } = opened
    const own = relations(account as Table, ({ one }) => ({
      self: one(account, { fields: [account.id], references: [account.id] }),
    }))
    const schema = { account, own }
    const client = db.$client as never
    const open = context.name === 'postgres' ? overPg : context.name === 'sqlite' ? overSqlite : overMysql
    return createLocks((open as typeof overPg)(client, { schema, mode } as object) as never) as never
  }

  test.each<Mode>(modes[context.name] ?? ['default'])(
    'is refused in the mode %s, whose text may lock',
    async (mode) => {
      const locks = locksIn(mode)
      const reading = (config: object) =>
        locks.transaction((tx) => locks.rows(tx, tx.query.account.findMany(config)))
      await expect(reading({ with: { self: true } })).rejects.toThrow('leave out with')
      await expect(reading({ with: { self: { columns: { id: true } } } })).rejects.toThrow('leave out with')
      expect(await reading({ with: { self: false } })).toHaveLength(2)
      expect(await reading({})).toHaveLength(2)
    },
  )
}
