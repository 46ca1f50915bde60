import { CamelCasePlugin, Kysely, WithSchemaPlugin, sql, type KyselyPlugin } from 'kysely'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { lockPlugin, type LockPlugin } from '../../src/adapters/kysely/plugin.ts'
import type { Plan } from '../../src/core/plan.ts'
import type { RowRequest } from '../../src/core/request.ts'
import { emit } from '../../src/emit.ts'
import { lockingKysely, plansOf, serverOf, servers, sqlOf } from './compile.ts'
import type { Database } from './database.ts'

const mssql = serverOf('mssql')
const postgres = serverOf('postgres')

describe('the plugin', () => {
  test("is what Kysely's types ask for", () => {
    expectTypeOf<LockPlugin>().toExtend<KyselyPlugin>()
    expectTypeOf(lockPlugin).parameter(0).toHaveProperty('planFor')
  })

  test('gives results as they are', async () => {
    const result = { rows: [{ id: 1 }] }
    expect(await lockPlugin({ planFor: plansOf(postgres) }).transformResult({ result })).toBe(result)
  })

  test('leaves a query without a lock as it is, node for node', () => {
    const plugin = lockPlugin({ planFor: plansOf(postgres) })
    const node = new Kysely<Database>({ dialect: postgres.kysely })
      .selectFrom('account')
      .selectAll()
      .where('id', '=', 1)
      .toOperationNode()
    expect(plugin.transformQuery({ node })).toBe(node)
  })

  test.each(servers)('does not look into values that look like a query on $dialect $version', (server) => {
    const value = {
      kind: 'SelectQueryNode',
      endModifiers: [{ kind: 'SelectModifierNode', modifier: 'SkipLocked' }],
    }
    const query = lockingKysely(server)
      .selectFrom('account')
      .selectAll()
      .where('id', '=', sql<number>`${value}`)
    expect(query.compile().parameters).toEqual([value])
    expect(query.forUpdate().compile().parameters).toEqual([value])
  })

  test('asks for the plan of each lock by mode, strength, wait and tables', () => {
    const asked: RowRequest[] = []
    const planFor = (request: RowRequest): Plan => {
      asked.push(request)
      return emit('postgres', request.mode === 'shared' ? 'row-shared' : 'row-exclusive', request)
    }
    const db = new Kysely<Database>({ dialect: postgres.kysely, plugins: [lockPlugin({ planFor })] })
    sqlOf(db.selectFrom('account as a').selectAll().forNoKeyUpdate('a').skipLocked())
    sqlOf(db.selectFrom('account').selectAll().forKeyShare())
    expect(asked).toEqual([
      { mode: 'exclusive', strength: 'no-key-update', wait: 'skip', of: ['a'] },
      { mode: 'shared', strength: 'key-share', wait: 'block' },
    ])
  })

  test('shows every plan to who knows the transaction, and lets it refuse', () => {
    const plugin = lockPlugin({
      planFor: plansOf(postgres),
      requireTransaction: ({ category }) => {
        throw new Error(`no transaction for ${category}`)
      },
    })
    const db = new Kysely<Database>({ dialect: postgres.kysely, plugins: [plugin] })
    expect(() => sqlOf(db.selectFrom('account').selectAll().forUpdate().noWait())).toThrow(
      'no transaction for nowait',
    )
    expect(sqlOf(db.selectFrom('account').selectAll())).toBe('select * from "account"')
  })
})

describe('a WITH query with a lock is read by', () => {
  const db = lockingKysely(postgres).with('t', (q) => q.selectFrom('account').select('id').forUpdate())
  const picked = 'with "t" as (select "id" from "account" FOR UPDATE) '

  test('UPDATE ... FROM', () => {
    const query = db.updateTable('owner').from('t').set({ name: 'x' }).whereRef('owner.id', '=', 't.id')
    expect(sqlOf(query)).toBe(
      `${picked}update "owner" set "name" = $1 from "t" where "owner"."id" = "t"."id"`,
    )
  })

  test('DELETE ... USING', () => {
    const query = db.deleteFrom('owner').using('t').whereRef('owner.id', '=', 't.id')
    expect(sqlOf(query)).toBe(`${picked}delete from "owner" using "t" where "owner"."id" = "t"."id"`)
  })

  test('MERGE ... USING', () => {
    const query = db.mergeInto('owner').using('t', 't.id', 'owner.id').whenMatched().thenDelete()
    expect(sqlOf(query)).toBe(
      `${picked}merge into "owner" using "t" on "t"."id" = "owner"."id" when matched then delete`,
    )
  })

  test('INSERT ... SELECT, by a name that sql.table writes', () => {
    const query = db
      .insertInto('log')
      .columns(['account_id'])
      .expression(sql`select id from ${sql.table('t')}`)
    expect(sqlOf(query)).toBe(`${picked}insert into "log" ("account_id") select id from "t"`)
  })
})

describe('a plan that is more than a query is refused:', () => {
  const compileWith = (plan: () => Plan): (() => string) => {
    const db = new Kysely<Database>({
      dialect: postgres.kysely,
      plugins: [lockPlugin({ planFor: plan, requireTransaction: () => {} })],
    })
    return () => sqlOf(db.selectFrom('account').selectAll().forUpdate())
  }
  const target = { table: 'account', key: { id: 1 } } as const
  const refused = expect.objectContaining({ name: 'UnsupportedLockError', instead: 'use locks.rows' })

  test('a setting of the session', () => {
    expect(compileWith(() => emit({ dialect: 'mysql', version: '5.7.44' }, 'nowait', {}))).toThrow(refused)
  })

  test('statements beside the query', () => {
    expect(compileWith(() => emit('duckdb', 'row-exclusive', { target }))).toThrow(refused)
  })

  test('a write in place of the lock', () => {
    expect(compileWith(() => emit('mongodb', 'row-exclusive', { target }))).toThrow(refused)
  })
})

describe('beside other plugins', () => {
  test('names are those that a plugin before it has made', () => {
    const db = lockingKysely(postgres, [new CamelCasePlugin()]) as unknown as Kysely<{
      bankAccount: { id: number }
    }>
    expect(sqlOf(db.selectFrom('bankAccount').selectAll().forUpdate('bankAccount'))).toBe(
      'select * from "bank_account" FOR UPDATE OF "bank_account"',
    )
  })

  test('a sub-query that went through both of them by itself stays locked, once', () => {
    for (const server of [postgres, mssql]) {
      const db = lockingKysely(server, [new CamelCasePlugin()])
      const text = sqlOf(db.selectFrom(db.selectFrom('account').selectAll().forUpdate().as('t')).selectAll())
      expect(text).toBe(
        server === mssql
          ? 'select * from (select * from "account" WITH (UPDLOCK, ROWLOCK)) as "t"'
          : 'select * from (select * from "account" FOR UPDATE) as "t"',
      )
    }
  })

  test('a table with hints is still a table to a plugin that comes later', () => {
    const lock = lockPlugin({ planFor: plansOf(mssql) })
    const db = new Kysely<Database>({ dialect: mssql.kysely, plugins: [lock, new WithSchemaPlugin('bank')] })
    expect(
      sqlOf(
        db.selectFrom('account').innerJoin('owner as o', 'o.id', 'owner_id').select('account.id').forUpdate(),
      ),
    ).toBe(
      'select "bank"."account"."id" from "bank"."account" WITH (UPDLOCK, ROWLOCK) inner join "bank"."owner" as "o" WITH (UPDLOCK, ROWLOCK) on "o"."id" = "owner_id"',
    )
  })

  test('a sub-query without a schema gets one from the query around it', () => {
    const db = lockingKysely(mssql)
    const inner = db.selectFrom('account').selectAll().forUpdate().as('t')
    expect(sqlOf(db.withSchema('bank').selectFrom(inner).selectAll())).toBe(
      'select * from (select * from "bank"."account" WITH (UPDLOCK, ROWLOCK)) as "t"',
    )
  })
})
