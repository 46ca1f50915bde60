import makeKnex, { type Knex } from 'knex'

import { createLocks } from '../../src/entries/knex.ts'
import type { Account, Orm, OrmStage, StageOptions } from './stage.ts'

const clients: Readonly<Record<string, (url: string) => Knex.Config>> = {
  postgres: (url) => ({ client: 'pg', connection: url }),
  mysql: (url) => ({ client: 'mysql2', connection: url }),
  mariadb: (url) => ({ client: 'mysql2', connection: url }),
  sqlite: (url) => ({ client: 'better-sqlite3', connection: { filename: url }, useNullAsDefault: true }),
}

export function openKnex(engine: string, url: string, max: number): Knex {
  const config = clients[engine]
  if (config === undefined) throw new Error(`Knex does not reach ${engine} here`)
  // it tells of each connection that is thrown away
  const log = { warn: () => {} }
  return makeKnex({ ...config(url), log, ...(engine !== 'sqlite' && { pool: { min: 0, max } }) })
}

/** Knex gives rows with the names of the columns. */
const columns = ['id', { balance: 'balance_now' }] as const

function stageOn(knex: Knex, { size, pipeline }: StageOptions): OrmStage<Knex.Transaction> {
  const select = (id: number, tx: Knex = knex) =>
    tx('account')
      .select<Account[]>(...columns)
      .where({ id })
  return {
    locks: createLocks(knex, { pipeline }),
    query: select,
    select,
    selectSkipping: (id, tx) => select(id, tx).forUpdate().skipLocked(),
    update: (tx, { id, balance }) => tx('account').where({ id }).update({ balance_now: balance }),
    insert: (tx, { id, balance }) => tx('account').insert({ id, balance_now: balance }),
    send: async (tx, text) => void (await tx.raw(text)),
    nest: (tx, work) => tx.transaction(work),
    ownTransaction: (work) => knex.transaction(work),
    size,
    close: () => knex.destroy(),
  }
}

export const knex: Orm = {
  name: 'knex',
  engines: Object.keys(clients),
  nesting: () => 'asynchronous',
  open: async (engine, url, { size = 4, pipeline } = {}) =>
    stageOn(openKnex(engine, url, size), { size, pipeline }) as OrmStage,
}
