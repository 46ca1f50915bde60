import type { Kysely, SelectQueryBuilder } from 'kysely'

import type { Database } from './database.ts'

/** Adds the lock to a SELECT, or leaves it out for the control. */
export type Lock = <DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  of?: TB & string,
) => SelectQueryBuilder<DB, TB, O>

export interface LockedQuery {
  readonly title: string
  readonly run: (db: Kysely<Database>, lock: Lock) => Promise<unknown>
  readonly locked: readonly string[]
  /** What is locked on a server that cannot lock one table of a query alone. @default as `locked` */
  readonly lockedWithoutOf?: readonly string[]
  /** The rows that the statement writes, which are locked with and without the lock. */
  readonly written?: readonly string[]
}

const a1 = ['account 1']

export const lockedQueries: readonly LockedQuery[] = [
  {
    title: 'one row',
    run: (db, lock) => lock(db.selectFrom('account').selectAll().where('id', '=', 1)).execute(),
    locked: a1,
  },
  {
    title: 'both tables of a join',
    run: (db, lock) =>
      lock(
        db
          .selectFrom('account as a')
          .innerJoin('owner as o', 'o.id', 'a.owner_id')
          .select('o.name')
          .where('a.id', '=', 1),
      ).execute(),
    locked: ['account 1', 'owner 10'],
  },
  {
    title: 'one table of a join',
    run: (db, lock) =>
      lock(
        db
          .selectFrom('account as a')
          .innerJoin('owner as o', 'o.id', 'a.owner_id')
          .select('o.name')
          .where('a.id', '=', 1),
        'a',
      ).execute(),
    locked: a1,
    lockedWithoutOf: ['account 1', 'owner 10'],
  },
  {
    title: 'the kept side of an outer join',
    run: (db, lock) =>
      lock(
        db
          .selectFrom('account as a')
          .leftJoin('owner as o', 'o.id', 'a.owner_id')
          .select('o.name')
          .where('a.id', '=', 1),
        'a',
      ).execute(),
    locked: a1,
    lockedWithoutOf: ['account 1', 'owner 10'],
  },
  {
    title: 'one table that is known by its own name',
    run: (db, lock) =>
      lock(
        db
          .selectFrom('account as a')
          .innerJoin('owner as o', 'o.id', 'a.owner_id')
          .select('o.name')
          .where('a.id', '=', 1),
        'owner' as never,
      ).execute(),
    locked: ['owner 10'],
    lockedWithoutOf: ['account 1', 'owner 10'],
  },
  {
    title: 'a table beside a sub-query',
    run: (db, lock) =>
      lock(
        db
          .selectFrom('owner as o')
          .innerJoin(
            (eb) => eb.selectFrom('account').select('owner_id').distinct().as('t'),
            (join) => join.onRef('t.owner_id', '=', 'o.id'),
          )
          .select('o.name')
          .where('o.id', '=', 10),
        'o',
      ).execute(),
    locked: ['owner 10'],
  },
  {
    title: 'a sub-query in FROM',
    run: (db, lock) =>
      db
        .selectFrom((eb) => lock(eb.selectFrom('account').selectAll().where('id', '=', 1)).as('t'))
        .selectAll()
        .execute(),
    locked: a1,
  },
  {
    title: 'a sub-query that was built by itself',
    run: (db, lock) =>
      db
        .selectFrom(lock(db.selectFrom('account').selectAll().where('id', '=', 1)).as('t'))
        .selectAll()
        .execute(),
    locked: a1,
  },
  {
    title: 'a sub-query in WHERE',
    run: (db, lock) =>
      db
        .selectFrom('owner')
        .selectAll()
        .where('id', '=', (eb) =>
          lock(eb.selectFrom('account').select('owner_id').where('account.id', '=', 1)),
        )
        .execute(),
    locked: a1,
  },
  {
    title: 'a sub-query of EXISTS',
    run: (db, lock) =>
      db
        .selectFrom('owner as o')
        .selectAll()
        .where((eb) =>
          eb.exists(
            lock(
              eb
                .selectFrom('account as a')
                .select('a.id')
                .whereRef('a.owner_id', '=', 'o.id')
                .where('a.id', '=', 1),
            ),
          ),
        )
        .execute(),
    locked: a1,
  },
  {
    title: 'a column of the result',
    run: (db, lock) =>
      db
        .selectFrom('owner')
        .select((eb) =>
          lock(eb.selectFrom('account').select('balance').where('account.id', '=', 1)).as('balance'),
        )
        .execute(),
    locked: a1,
  },
  {
    title: 'a WITH query',
    run: (db, lock) =>
      db
        .with('t', (q) => lock(q.selectFrom('account').selectAll().where('id', '=', 1)))
        .selectFrom('t')
        .selectAll()
        .execute(),
    locked: a1,
  },
  {
    title: 'a WITH query that another one reads',
    run: (db, lock) =>
      db
        .with('t', (q) => lock(q.selectFrom('account').selectAll().where('id', '=', 1)))
        .with('u', (q) => q.selectFrom('t').select('t.id'))
        .selectFrom('u')
        .selectAll()
        .execute(),
    locked: a1,
  },
  {
    title: 'a sub-query of one part of a union',
    run: (db, lock) =>
      db
        .selectFrom('owner')
        .select('id')
        .unionAll((eb) =>
          eb
            .selectFrom((inner) =>
              lock(inner.selectFrom('account').select('account.id').where('account.id', '=', 1)).as('t'),
            )
            .select('t.id'),
        )
        .execute(),
    locked: a1,
  },
  {
    title: 'INSERT from a SELECT',
    run: (db, lock) =>
      db
        .insertInto('log')
        .columns(['account_id'])
        .expression((eb) =>
          lock(eb.selectFrom('account').select('account.balance').where('account.id', '=', 1)),
        )
        .execute(),
    locked: a1,
  },
  {
    title: 'what an UPDATE reads',
    run: (db, lock) =>
      db
        .updateTable('owner')
        .set({ name: 'Eve' })
        .where('id', '=', (eb) =>
          lock(eb.selectFrom('account').select('owner_id').where('account.id', '=', 1)),
        )
        .execute(),
    locked: ['account 1', 'owner 10'],
    written: ['owner 10'],
  },
]

/** SQLite takes this for a circle. */
export const ownNameQuery: LockedQuery = {
  title: 'a WITH query of the name of its table',
  run: (db, lock) =>
    db
      .with('account', (q) => lock(q.selectFrom('account').selectAll().where('id', '=', 1)))
      .selectFrom('account')
      .selectAll()
      .execute(),
  locked: a1,
}
