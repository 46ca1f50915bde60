import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import knex from 'knex'
import { Kysely, SqliteDialect } from 'kysely'
import { DataSource, EntitySchema } from 'typeorm'
import { describe, expect, test } from 'vitest'

/*
 * What the README says of other libraries, with the versions that are installed. When one of these fails, the library has
 * changed, and so must the table.
 */

describe('a row lock on SQLite', () => {
  test('is left out by Knex, silently', async () => {
    const db = knex({
      client: 'better-sqlite3',
      connection: { filename: ':memory:' },
      useNullAsDefault: true,
    })
    expect(db('account').where('id', 1).toQuery()).toBe('select * from `account` where `id` = 1')
    expect(db('account').where('id', 1).forUpdate().toQuery()).toBe('select * from `account` where `id` = 1')
    await db.destroy()
  })

  test('is sent by Kysely as it is written, which SQLite does not understand', async () => {
    const db = new Kysely<{ account: { id: number } }>({
      dialect: new SqliteDialect({ database: new Database(':memory:') }),
    })
    await db.schema.createTable('account').addColumn('id', 'integer').execute()
    const locked = db.selectFrom('account').selectAll().forUpdate()
    expect(locked.compile().sql).toBe('select * from "account" for update')
    await expect(locked.execute()).rejects.toThrow('syntax error')
    await db.destroy()
  })

  test('cannot be asked of Drizzle', () => {
    const account = sqliteTable('account', { id: integer('id') })
    expect(drizzle(new Database(':memory:')).select().from(account)).not.toHaveProperty('for')
  })

  test('is refused by TypeORM', async () => {
    const account = new EntitySchema<{ id: number }>({
      name: 'account',
      columns: { id: { type: Number, primary: true } },
    })
    const source = await new DataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      entities: [account],
      synchronize: true,
    }).initialize()
    const locked = source.transaction(async (manager) =>
      manager.getRepository(account).createQueryBuilder().setLock('pessimistic_write').getMany(),
    )
    await expect(locked).rejects.toHaveProperty('name', 'LockNotSupportedOnGivenDriverError')
    await source.destroy()
  })
})
