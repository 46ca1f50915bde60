import { Kysely, PostgresDialect, sql as kyselySql, type Transaction } from 'kysely'
import pg from 'pg'

import { createLocks as createForgeLocks, type TransactionOf } from '../../src/entries/forge.ts'
import { createLocks as createKyselyLocks } from '../../src/entries/kysely.ts'
import { openForge } from './forge.ts'
import type { PrismaClient } from './prisma/postgres/client.ts'
import type { Orm, OrmStage } from './stage.ts'

/** A client that is no ORM locks rows by a statement. */
const query = (id: number) => ({
  sql: 'SELECT id, balance_now AS balance FROM account WHERE id = $1',
  params: [id],
})

function forgeStage(prisma: PrismaClient, size: number): OrmStage<TransactionOf<PrismaClient>> {
  return {
    locks: createForgeLocks(prisma, { dialect: 'postgres' }),
    query,
    select: (id, tx = prisma) => tx.account.findMany({ where: { id } }),
    update: (tx, { id, balance }) => tx.account.update({ where: { id }, data: { balance } }),
    insert: (tx, data) => tx.account.create({ data }),
    send: async (tx, text) => tx.$executeRawUnsafe(text),
    nest: (tx, work) => (tx as PrismaClient).$transaction(work),
    ownTransaction: (work) => prisma.$transaction(work),
    size,
    close: () => prisma.$disconnect(),
  }
}

const forge: Orm = {
  name: 'forge',
  engines: ['postgres'],
  nesting: () => 'none',
  open: async (engine, url, { size = 4 } = {}) =>
    forgeStage(openForge(engine, url, size) as PrismaClient, size) as OrmStage,
}

interface AccountTable {
  readonly account: { readonly id: number; readonly balance_now: number }
}

function kyselyStage(db: Kysely<AccountTable>, size: number): OrmStage<Transaction<AccountTable>> {
  const of = (id: number, on: Kysely<AccountTable> = db) =>
    on.selectFrom('account').select(['id', 'balance_now as balance']).where('id', '=', id)
  return {
    locks: createKyselyLocks(db, { dialect: 'postgres' }),
    query: of,
    select: (id, tx) => of(id, tx).execute(),
    update: (tx, { id, balance }) =>
      tx.updateTable('account').set({ balance_now: balance }).where('id', '=', id).execute(),
    insert: (tx, { id, balance }) => tx.insertInto('account').values({ id, balance_now: balance }).execute(),
    send: (tx, text) => kyselySql.raw(text).execute(tx),
    nest: () => Promise.reject(new Error('Kysely nests nothing')),
    ownTransaction: (work) => db.transaction().execute(work),
    size,
    close: () => db.destroy(),
  }
}

const kysely: Orm = {
  name: 'kysely',
  engines: ['postgres'],
  nesting: () => 'none',
  open: async (_, connectionString, { size = 4 } = {}) => {
    const pool = new pg.Pool({ connectionString, max: size })
    pool.on('error', () => {})
    return kyselyStage(new Kysely({ dialect: new PostgresDialect({ pool }) }), size) as OrmStage
  },
}

/**
 * Clients that are no ORMs, for the specs that ask nothing of one.
 *
 * Of postgres.js the random races are not asked: in 2 of 24 runs a connection that was cut was not made again, and each try
 * ended by `connect_timeout`. By its source, what it has not written when a connection closes it keeps, and never writes.
 */
export const clients: readonly Orm[] = [forge, kysely]
