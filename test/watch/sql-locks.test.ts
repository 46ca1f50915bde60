import { expect, test } from 'vitest'

import { sqlLockOf } from '../../src/watch/sql-locks.ts'

const exclusive = { mode: 'exclusive', waits: true } as const

test.each([
  [
    'update stock set n = n - $1 where id = $2',
    [3, 7],
    { table: 'stock', ...exclusive, row: { which: 'id=7', by: 'id' } },
  ],
  [
    'UPDATE "app"."Stock" SET n = ? WHERE "id" = ?',
    [3, 'a'],
    { table: 'app.stock', ...exclusive, row: { which: 'id=a', by: 'id' } },
  ],
  ['update only stock set n = 1', [], { table: 'stock', ...exclusive, row: undefined }],
  [
    'delete from stock where b = 2 and a = 1',
    [],
    { table: 'stock', ...exclusive, row: { which: 'a=1 b=2', by: 'a b' } },
  ],
  ['delete from stock where id > 1', [], { table: 'stock', ...exclusive, row: undefined }],
  ['delete from stock where id = 1 or id = 2', [], { table: 'stock', ...exclusive, row: undefined }],
  [
    "select * from stock where stock.id = 'it''s' for update",
    [],
    { table: 'stock', ...exclusive, row: { which: "id=it's", by: 'id' } },
  ],
  [
    'select * from `stock` where `id` = ? lock in share mode',
    [4n],
    { table: 'stock', mode: 'shared', waits: true, row: { which: 'id=4', by: 'id' } },
  ],
  [
    'select * from stock where id = $1::int for no key update nowait',
    [4],
    { table: 'stock', mode: 'exclusive', waits: false, row: { which: 'id=4', by: 'id' } },
  ],
  [
    'select id from job order by id limit 1 for update skip locked',
    [],
    { table: 'job', mode: 'exclusive', waits: false, row: undefined },
  ],
  [
    '/* for update */ select (select max(id) from other) from stock where id = 1 for share -- done',
    [],
    { table: 'stock', mode: 'shared', waits: true, row: { which: 'id=1', by: 'id' } },
  ],
  [
    'insert into stock (id, n) values ($1, $2) on conflict (id) do update set n = $2',
    [1, 2],
    { table: 'stock', ...exclusive, row: undefined },
  ],
  [
    'select * from "stock" as s where ("id" = $1) for update',
    [1],
    { table: 'stock', ...exclusive, row: { which: 'id=1', by: 'id' } },
  ],
  [
    'UPDATE "public"."stock" SET "n" = $1 WHERE ("public"."stock"."id" = $2 AND 1=1) RETURNING "id"',
    [3, 2],
    { table: 'public.stock', ...exclusive, row: { which: 'id=2', by: 'id' } },
  ],
  [
    'SELECT "Stock"."id" AS "Stock_id" FROM "stock" "Stock" WHERE (("Stock"."id" = $1)) LIMIT 1 FOR UPDATE',
    [1],
    { table: 'stock', ...exclusive, row: { which: 'id=1', by: 'id' } },
  ],
  [
    'UPDATE "stock" SET "n" = $2 WHERE "id" IN ($1)',
    [7, 1],
    { table: 'stock', ...exclusive, row: { which: 'id=7', by: 'id' } },
  ],
  ['delete from stock where id in (1, 2)', [], { table: 'stock', ...exclusive, row: undefined }],
  [
    'update `Stock` s set s.n = ? where s.ID = ?;',
    [3, 7],
    { table: 'stock', ...exclusive, row: { which: 'id=7', by: 'id' } },
  ],
  [
    'SELECT "id" FROM "stock" AS "stock" WHERE "stock"."id" = 1 FOR UPDATE SKIP LOCKED;',
    [],
    { table: 'stock', mode: 'exclusive', waits: false, row: { which: 'id=1', by: 'id' } },
  ],
  [
    'update ignore stock set n = 1 where id = 1',
    [],
    { table: 'stock', ...exclusive, row: { which: 'id=1', by: 'id' } },
  ],
  ['update or rollback stock set n = 1', [], { table: 'stock', ...exclusive, row: undefined }],
  // of several tables nobody knows of which one the row is
  [
    'select * from stock s join orders o on o.stock = s.id where o.id = 5 for update',
    [],
    { table: 'stock', ...exclusive, row: undefined },
  ],
  [
    'update stock set n = 1 from orders where orders.id = 5',
    [],
    { table: 'stock', ...exclusive, row: undefined },
  ],
  [
    'update stock s, orders o set s.n = 1 where o.id = 5',
    [],
    { table: 'stock', ...exclusive, row: undefined },
  ],
  [
    'insert into stock values (1, 2) on conflict (id) do update set n = 2 where stock.n = 3',
    [],
    { table: 'stock', ...exclusive, row: undefined },
  ],
  ['replace into stock values (1, 2)', [], { table: 'stock', ...exclusive, row: undefined }],
])('%s', (sql, params, expected) => {
  expect(sqlLockOf(sql, params)).toEqual(expected)
})

test.each([
  'select * from stock where id = 1',
  "select 'for update' from stock",
  'select "for update" from stock',
  'insert into stock values (1, 2)',
  'insert into stock values (1, 2) on conflict do nothing',
  'select pg_advisory_xact_lock(1)',
  'select * from stock where id in (select id from other for update)',
  'select * from stock s join orders o on o.stock = s.id where s.id = 1 for update of o',
  'set transaction isolation level serializable',
  'update',
  'delete stock',
  '',
])('nothing is made up of: %s', (sql) => {
  expect(sqlLockOf(sql, [])).toBeUndefined()
})

test('it never throws, whatever it is given', () => {
  const pieces = [
    'update',
    'select',
    'from',
    'where',
    'for update',
    '"',
    "'",
    '`',
    '(',
    ')',
    '=',
    '?',
    '$1',
    'a',
    '.',
    ' ',
    '/*',
    '::',
  ]
  let seed = 7
  const draw = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most
  for (let round = 0; round < 2000; round += 1) {
    const text = Array.from({ length: draw(12) }, () => pieces[draw(pieces.length)]).join(' ')
    expect(() => sqlLockOf(text, [1])).not.toThrow()
  }
})
