import { sql, type Compilable, type Kysely } from 'kysely'

import type { Database } from './database.ts'

/** One query with a lock. The golden files show what becomes of it on each server. */
export interface Case {
  readonly title: string
  readonly build: (db: Kysely<Database>) => Compilable
}

const account = (db: Kysely<Database>) => db.selectFrom('account').selectAll().where('id', '=', 7)
const joined = (db: Kysely<Database>) =>
  db.selectFrom('account as a').innerJoin('owner', 'owner.id', 'a.owner_id').select(['a.id', 'owner.name'])
const outer = (db: Kysely<Database>) =>
  db.selectFrom('account as a').leftJoin('owner as o', 'o.id', 'a.owner_id').select(['a.id', 'o.name'])
const free = (db: Kysely<Database>) => db.selectFrom('account').select('id').orderBy('id').limit(1)

export const plainCases: readonly Case[] = [
  { title: 'no lock', build: (db) => account(db) },
  { title: 'for update', build: (db) => account(db).forUpdate() },
  { title: 'for no key update', build: (db) => account(db).forNoKeyUpdate() },
  { title: 'for share', build: (db) => account(db).forShare() },
  { title: 'for key share', build: (db) => account(db).forKeyShare() },
  { title: 'for update skip locked', build: (db) => account(db).forUpdate().skipLocked() },
  { title: 'skip locked said first', build: (db) => account(db).skipLocked().forUpdate() },
  { title: 'for update nowait', build: (db) => account(db).forUpdate().noWait() },
  { title: 'for share skip locked', build: (db) => account(db).forShare().skipLocked() },
  { title: 'for share nowait', build: (db) => account(db).forShare().noWait() },
  {
    title: 'text of the caller behind it',
    build: (db) =>
      account(db)
        .forUpdate()
        .modifyEnd(sql`/* mine */`),
  },
  {
    title: 'text of the caller before it',
    build: (db) =>
      account(db)
        .modifyEnd(sql`/* mine */`)
        .forUpdate(),
  },
]

export const tableCases: readonly Case[] = [
  { title: 'an alias', build: (db) => db.selectFrom('account as a').selectAll().forUpdate() },
  { title: 'a schema', build: (db) => db.selectFrom('bank.account').selectAll().forUpdate() },
  {
    title: 'a schema and an alias',
    build: (db) => db.selectFrom('bank.account as a').selectAll().forShare(),
  },
  {
    title: 'withSchema',
    build: (db) => db.withSchema('bank').selectFrom('account').selectAll().forUpdate('account'),
  },
  {
    title: 'sql.table',
    build: (db) => db.selectFrom(sql.table<Database['account']>('account').as('a')).selectAll().forUpdate(),
  },
  {
    title: 'two tables in FROM',
    build: (db) => db.selectFrom(['account as a', 'owner as o']).select(['a.id', 'o.name']).forUpdate(),
  },
  {
    title: 'one of two tables in FROM',
    build: (db) => db.selectFrom(['account as a', 'owner']).select('a.id').forUpdate('owner'),
  },
  { title: 'a join', build: (db) => joined(db).forUpdate() },
  { title: 'one table of a join', build: (db) => joined(db).forUpdate('a') },
  { title: 'by its own name', build: (db) => joined(db).forUpdate('account' as never) },
  { title: 'both by name', build: (db) => joined(db).forShare(['a', 'owner']).noWait() },
  {
    title: 'by schema and name',
    build: (db) =>
      db
        .selectFrom('bank.account')
        .innerJoin('owner as o', 'o.id', 'owner_id')
        .select('o.id')
        .forUpdate('bank.account'),
  },
  {
    title: 'a table joined to itself, one of them',
    build: (db) =>
      db
        .selectFrom('account as a')
        .innerJoin('account as b', 'b.id', 'a.owner_id')
        .select('a.id')
        .forUpdate('b'),
  },
  {
    title: 'a table joined to itself, by its own name',
    build: (db) =>
      db
        .selectFrom('account as a')
        .innerJoin('account as b', 'b.id', 'a.owner_id')
        .select('a.id')
        .forUpdate('account' as never),
  },
  { title: 'the kept side of an outer join', build: (db) => outer(db).forUpdate('a') },
  {
    title: 'a table beside a sub-query',
    build: (db) =>
      db
        .selectFrom('owner')
        .innerJoin(
          (eb) => eb.selectFrom('account').select('owner_id').distinct().as('t'),
          (join) => join.onRef('t.owner_id', '=', 'owner.id'),
        )
        .selectAll('owner')
        .forUpdate('owner'),
  },
]

export const nestedCases: readonly Case[] = [
  {
    title: 'a sub-query in FROM',
    build: (db) =>
      db.selectFrom((eb) => eb.selectFrom('account').selectAll().forUpdate().as('t')).selectAll(),
  },
  {
    title: 'a sub-query in a join',
    build: (db) =>
      db
        .selectFrom('owner')
        .innerJoin(
          (eb) => eb.selectFrom('account').selectAll().forUpdate().as('t'),
          (join) => join.onRef('t.owner_id', '=', 'owner.id'),
        )
        .select('t.id'),
  },
  {
    title: 'a sub-query in WHERE',
    build: (db) =>
      db
        .selectFrom('owner')
        .selectAll()
        .where('id', 'in', (eb) =>
          eb.selectFrom('account').select('owner_id').where('id', '=', 7).forUpdate(),
        ),
  },
  {
    title: 'EXISTS',
    build: (db) =>
      db
        .selectFrom('owner')
        .selectAll()
        .where((eb) =>
          eb.exists(eb.selectFrom('account').select('id').whereRef('owner_id', '=', 'owner.id').forUpdate()),
        ),
  },
  {
    title: 'a sub-query in the select list',
    build: (db) =>
      db
        .selectFrom('owner')
        .select((eb) =>
          eb.selectFrom('account').select('balance').where('id', '=', 7).forUpdate().as('balance'),
        ),
  },
  {
    title: 'WITH',
    build: (db) =>
      db
        .with('t', (q) => free(q as Kysely<Database>).forUpdate())
        .selectFrom('t')
        .selectAll(),
  },
  {
    title: 'WITH of the name of its table',
    build: (db) =>
      db
        .with('account', (q) => q.selectFrom('account').selectAll().forUpdate())
        .selectFrom('account')
        .selectAll(),
  },
  {
    title: 'WITH before UPDATE',
    build: (db) =>
      db
        .with('t', (q) =>
          free(q as Kysely<Database>)
            .forUpdate()
            .skipLocked(),
        )
        .updateTable('account')
        .set({ balance: 0 })
        .where('id', 'in', (eb) => eb.selectFrom('t').select('t.id')),
  },
  {
    title: 'UPDATE of what a sub-query picks',
    build: (db) =>
      db
        .updateTable('account')
        .set({ balance: 0 })
        .where('id', '=', (eb) =>
          free(eb as unknown as Kysely<Database>)
            .forUpdate()
            .skipLocked(),
        ),
  },
  {
    title: 'DELETE of what a sub-query picks',
    build: (db) =>
      db
        .deleteFrom('owner')
        .where('id', 'in', (eb) => eb.selectFrom('account').select('owner_id').forUpdate()),
  },
  {
    title: 'INSERT from a SELECT',
    build: (db) =>
      db
        .insertInto('log')
        .columns(['account_id'])
        .expression((eb) => eb.selectFrom('account').select('id').forUpdate()),
  },
  {
    title: 'INSERT from a SELECT built by db',
    build: (db) =>
      db
        .insertInto('log')
        .columns(['account_id'])
        .expression(db.selectFrom('account').select('id').forUpdate()),
  },
  {
    title: 'a sub-query of one part of a union',
    build: (db) =>
      db
        .selectFrom((eb) => eb.selectFrom('account').select('id').forUpdate().as('t'))
        .select('id')
        .union(db.selectFrom('owner').select('id')),
  },
]
