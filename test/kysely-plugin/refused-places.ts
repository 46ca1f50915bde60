import type { RefusedCase } from './refused-cases.ts'

/** Locked queries that are right by themselves, at places where a server may leave them out. */
export const placeCases: readonly RefusedCase[] = [
  {
    title: 'a subquery on the optional side',
    field: 'leftJoin',
    build: (db) =>
      db
        .selectFrom('owner')
        .leftJoin(
          (eb) => eb.selectFrom('account').selectAll().forUpdate().as('t'),
          (join) => join.onRef('t.owner_id', '=', 'owner.id'),
        )
        .select('owner.id'),
  },
  {
    title: 'a sub-query in the condition of an outer join',
    field: 'leftJoin',
    build: (db) =>
      db
        .selectFrom('owner')
        .leftJoin('account', (join) =>
          join.on('account.id', '=', (eb) =>
            eb.selectFrom('account as b').select('b.id').limit(1).forUpdate(),
          ),
        )
        .select('owner.id'),
  },
  {
    title: 'a column of a sub-query',
    field: 'select',
    build: (db) =>
      db
        .selectFrom((eb) =>
          eb
            .selectFrom('owner')
            .select((inner) => [
              'id',
              inner.selectFrom('account').select('balance').limit(1).forUpdate().as('b'),
            ])
            .as('t'),
        )
        .select('t.id'),
  },
  {
    title: 'a WITH query that nobody reads',
    field: 'with',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll().forUpdate())
        .selectFrom('owner')
        .selectAll(),
  },
  {
    title: 'a WITH query that nobody reads, built by db',
    field: 'with',
    build: (db) =>
      db
        .with('t', () => db.selectFrom('account').selectAll().forUpdate())
        .selectFrom('owner')
        .selectAll(),
  },
  {
    title: 'a WITH query whose name is only an alias elsewhere',
    field: 'with',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll().forUpdate())
        .selectFrom('owner as t')
        .select('t.name'),
  },
  {
    title: 'a WITH query that only an unread one reads',
    field: 'with',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll().forUpdate())
        .with('u', (q) => q.selectFrom('t').selectAll())
        .selectFrom('owner')
        .selectAll(),
  },
  {
    title: 'a WITH query that is read on the optional side only',
    field: 'with',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll().forUpdate())
        .selectFrom('owner')
        .leftJoin('t', (join) => join.onRef('t.owner_id', '=', 'owner.id'))
        .select('owner.id'),
  },
  {
    title: 'a WITH query that another of its name hides',
    field: 'with',
    build: (db) =>
      db
        .with('t', (q) => q.selectFrom('account').selectAll().forUpdate())
        .selectFrom(
          db
            .with('t', (q) => q.selectFrom('owner').selectAll())
            .selectFrom('t')
            .selectAll()
            .as('x'),
        )
        .selectAll(),
  },
  {
    title: 'a recursive WITH query',
    field: 'withRecursive',
    build: (db) =>
      db
        .withRecursive('t', (q) =>
          q
            .selectFrom('account')
            .select('id')
            .unionAll((eb) =>
              eb
                .selectFrom((inner) => inner.selectFrom('account').select('id').forUpdate().as('a'))
                .innerJoin('t', 't.id', 'a.id')
                .select('a.id'),
            ),
        )
        .selectFrom('t')
        .selectAll(),
  },
  {
    title: 'the definition of a view',
    field: 'forUpdate',
    build: (db) => db.schema.createView('v').as(db.selectFrom('account').selectAll().forUpdate()),
  },
  {
    title: 'the definition of a table',
    field: 'forUpdate',
    build: (db) => db.schema.createTable('v').as(db.selectFrom('account').selectAll().forUpdate()),
  },
]
