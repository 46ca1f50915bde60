import { sql, type Kysely } from 'kysely'

import type { Case } from './cases.ts'
import type { Database } from './database.ts'

/** A query that is refused on every server, and the field that the error names. */
export interface RefusedCase extends Case {
  readonly field: string
}

const accounts = (db: Kysely<Database>) => db.selectFrom('account').select('owner_id')
const outer = (db: Kysely<Database>) =>
  db.selectFrom('account as a').leftJoin('owner as o', 'o.id', 'a.owner_id').select('a.id')

export const wordCases: readonly RefusedCase[] = [
  { title: 'skipLocked without a lock', field: 'wait', build: (db) => accounts(db).skipLocked() },
  { title: 'noWait without a lock', field: 'wait', build: (db) => accounts(db).noWait() },
  {
    title: 'skipLocked beside a lock in SQL text',
    field: 'wait',
    build: (db) =>
      accounts(db)
        .modifyEnd(sql`for update`)
        .skipLocked(),
  },
  {
    title: 'skipLocked and noWait',
    field: 'wait',
    build: (db) => accounts(db).forUpdate().skipLocked().noWait(),
  },
  { title: 'two strengths', field: 'mode', build: (db) => accounts(db).forUpdate().forShare() },
  { title: 'of without a name', field: 'of', build: (db) => accounts(db).forUpdate([]) },
  {
    title: 'of a table that is not there',
    field: 'of',
    build: (db) => accounts(db).forUpdate('owner' as never),
  },
  {
    title: 'of another schema',
    field: 'of',
    build: (db) =>
      db
        .selectFrom('bank.account')
        .selectAll()
        .forUpdate('shop.account' as never),
  },
  {
    title: 'of a name that two tables have',
    field: 'of',
    build: (db) =>
      db.selectFrom(['bank.account', 'shop.account']).select('bank.account.id').forUpdate('bank.account'),
  },
]

export const shapeCases: readonly RefusedCase[] = [
  { title: 'distinct', field: 'distinct', build: (db) => accounts(db).distinct().forUpdate() },
  {
    title: 'distinct on',
    field: 'distinctOn',
    build: (db) => accounts(db).distinctOn('owner_id').forUpdate(),
  },
  { title: 'group by', field: 'groupBy', build: (db) => accounts(db).groupBy('owner_id').forUpdate() },
  { title: 'having', field: 'having', build: (db) => accounts(db).having('owner_id', '>', 1).forUpdate() },
  {
    title: 'an aggregate',
    field: 'select',
    build: (db) =>
      db
        .selectFrom('account')
        .select((eb) => eb.fn.countAll().as('n'))
        .forUpdate(),
  },
  {
    title: 'an aggregate inside of an expression',
    field: 'select',
    build: (db) =>
      db
        .selectFrom('account')
        .select((eb) => eb(eb.fn.max('id'), '+', 1).as('next'))
        .forUpdate(),
  },
  {
    title: 'a window function',
    field: 'select',
    build: (db) =>
      db
        .selectFrom('account')
        .select((eb) =>
          eb.fn
            .agg<number>('row_number')
            .over((ob) => ob.orderBy('id'))
            .as('n'),
        )
        .forUpdate(),
  },
  { title: 'a union', field: 'union', build: (db) => accounts(db).union(accounts(db)).forUpdate() },
  {
    title: 'the last part of a union',
    field: 'union',
    build: (db) => accounts(db).union((eb) => eb.selectFrom('account').select('owner_id').forUpdate()),
  },
  {
    title: 'a part of a union in parentheses',
    field: 'union',
    build: (db) =>
      accounts(db).unionAll((eb) => eb.parens(eb.selectFrom('account').select('owner_id').forUpdate())),
  },
  {
    title: 'a part of a union built by db',
    field: 'union',
    build: (db) => accounts(db).unionAll(accounts(db).forUpdate()),
  },
]

export const sourceCases: readonly RefusedCase[] = [
  { title: 'no table', field: 'from', build: (db) => db.selectNoFrom(sql`1`.as('one')).forUpdate() },
  {
    title: 'a sub-query',
    field: 'from',
    build: (db) =>
      db
        .selectFrom((eb) => eb.selectFrom('account').selectAll().as('t'))
        .selectAll()
        .forUpdate(),
  },
  {
    title: 'SQL text',
    field: 'from',
    build: (db) =>
      db
        .selectFrom(sql<{ id: number }>`(values (1))`.as('t'))
        .selectAll()
        .forUpdate(),
  },
  {
    title: 'a WITH query',
    field: 'from',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll())
        .selectFrom('t')
        .selectAll()
        .forUpdate(),
  },
  {
    title: 'a WITH query whose name differs in case',
    field: 'from',
    build: (db) =>
      db
        .with('ACCOUNT', (q) => q.selectFrom('account').selectAll())
        .selectFrom('account')
        .selectAll()
        .forUpdate(),
  },
  {
    title: 'a WITH query beside a table',
    field: 'from',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll())
        .selectFrom(['owner', 't'])
        .select('t.id')
        .forUpdate(),
  },
  {
    title: 'a WITH query, from a sub-query built by db',
    field: 'from',
    build: (db) =>
      db
        .with('account', (q) => q.selectFrom('account').selectAll())
        .selectFrom(db.selectFrom('account').selectAll().forUpdate().as('t'))
        .selectAll(),
  },
  { title: 'an outer join', field: 'of', build: (db) => outer(db).forUpdate() },
  { title: 'the optional side of an outer join', field: 'of', build: (db) => outer(db).forUpdate('o') },
  {
    title: 'what stands before a right join',
    field: 'of',
    build: (db) =>
      db
        .selectFrom('account')
        .rightJoin('owner', 'owner.id', 'owner_id')
        .select('owner.id')
        .forUpdate('account'),
  },
  {
    title: 'a full join',
    field: 'of',
    build: (db) =>
      db
        .selectFrom('account')
        .fullJoin('owner', 'owner.id', 'owner_id')
        .select('owner.id')
        .forUpdate('account'),
  },
]
