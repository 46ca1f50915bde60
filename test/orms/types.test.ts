import type { EntitySchema as MikroOrmSchema, MikroORM } from '@mikro-orm/postgresql'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Knex } from 'knex'
import type pg from 'pg'
import type {
  InferAttributes,
  InferCreationAttributes,
  Model,
  ModelStatic,
  Sequelize,
  Transaction,
} from 'sequelize'
import type { DataSource, EntityManager, EntitySchema } from 'typeorm'
import { expectTypeOf, test } from 'vitest'

import { createLocks as drizzle } from '../../src/entries/drizzle.ts'
import { createLocks as knex, type KnexLocks, type LockedRows } from '../../src/entries/knex.ts'
import { createLocks as sequelize, type SequelizeLocks } from '../../src/entries/sequelize.ts'
import { createLocks as mikroOrm, type MikroOrmLocks } from '../../src/entries/mikro-orm.ts'
import { createLocks as typeorm, type TypeormLocks } from '../../src/entries/typeorm.ts'

interface Account {
  readonly id: number
  readonly balance: number
}

interface AccountModel extends Model<InferAttributes<AccountModel>, InferCreationAttributes<AccountModel>> {
  id: number
  balance: number
}

const account = pgTable('account', { id: integer().primaryKey(), balance: integer().notNull() })

/** Never called: what is tested is that they compile. */
const calls = {
  knex: (db: Knex) => knex(db),
  'knex, told': (db: Knex) => knex(db, { dialect: 'postgres' }),
  'rows of knex': (db: Knex) => {
    const locks = knex(db)
    return locks.transaction((tx) => locks.rows(tx, tx<Account>('account').where({ id: 1 })))
  },
  'columns of knex': (db: Knex) => {
    const locks = knex(db, { dialect: 'postgres' })
    return locks.transaction((tx) =>
      locks.rows(tx, tx<Account>('account').select('id').where({ id: 1 }), { wait: 'skip' }),
    )
  },
  typeorm: (source: DataSource) => typeorm(source),
  'rows of typeorm': (source: DataSource, entity: EntitySchema<Account>) => {
    const locks = typeorm(source, { dialect: 'postgres' })
    return locks.transaction((tx) =>
      locks.rows(tx, tx.createQueryBuilder(entity, 'a').where({ id: 1 }), { wait: 'skip' }),
    )
  },
  sequelize: (db: Sequelize) => sequelize(db),
  'rows of sequelize': (db: Sequelize, model: ModelStatic<AccountModel>) => {
    const locks = sequelize(db, { dialect: 'postgres' })
    return locks.transaction((tx) => locks.rows(tx, model, { where: { id: 1 } }, { wait: 'skip' }))
  },
  mikroOrm: (orm: MikroORM) => mikroOrm(orm),
  'rows of mikro-orm': (orm: MikroORM, entity: MikroOrmSchema<Account>) => {
    const locks = mikroOrm(orm)
    return locks.transaction((tx) => locks.rows(tx, entity, { id: 1 }, { wait: 'skip' }))
  },
  'rows of drizzle': (db: NodePgDatabase & { $client: pg.Pool }) => {
    const locks = drizzle(db)
    return locks.transaction((tx) => locks.rows(tx, tx.select().from(account), { wait: 'skip' }))
  },
}

test("the work is given the ORM's own transaction, and rows are those of its queries", () => {
  expectTypeOf(calls.knex).returns.toEqualTypeOf<
    KnexLocks<Knex.Transaction, 'postgres' | 'mysql' | 'mariadb' | 'sqlite'>
  >()
  expectTypeOf(calls['knex, told']).returns.toEqualTypeOf<KnexLocks<Knex.Transaction, 'postgres'>>()
  expectTypeOf(calls['rows of knex']).returns.resolves.toEqualTypeOf<LockedRows<Account>>()
  expectTypeOf(calls['columns of knex']).returns.resolves.toEqualTypeOf<LockedRows<Pick<Account, 'id'>>>()
  expectTypeOf(calls.typeorm).returns.toEqualTypeOf<
    TypeormLocks<EntityManager, 'postgres' | 'mysql' | 'mariadb' | 'sqlite'>
  >()
  expectTypeOf(calls['rows of typeorm']).returns.resolves.toEqualTypeOf<LockedRows<Account>>()
  expectTypeOf(calls.sequelize).returns.toEqualTypeOf<
    SequelizeLocks<Transaction, 'postgres' | 'mysql' | 'mariadb'>
  >()
  expectTypeOf(calls['rows of sequelize']).returns.resolves.toEqualTypeOf<LockedRows<AccountModel>>()
  expectTypeOf(calls.mikroOrm).returns.toEqualTypeOf<MikroOrmLocks<MikroORM['em']>>()
  expectTypeOf(calls['rows of mikro-orm']).returns.resolves.toEqualTypeOf<LockedRows<Account>>()
  expectTypeOf(calls['rows of drizzle']).returns.resolves.toEqualTypeOf<
    LockedRows<{ id: number; balance: number }>
  >()
})

/** Never called, either. */
const refused = {
  'one row is no list': (locks: KnexLocks<Knex.Transaction, 'postgres'>, tx: Knex.Transaction) =>
    // @ts-expect-error first
    locks.rows(tx, tx<Account>('account').first()),
  'an attribute that the model has not': (
    locks: SequelizeLocks<Transaction, 'postgres'>,
    tx: Transaction,
    model: ModelStatic<AccountModel>,
    // @ts-expect-error colour
  ) => locks.rows(tx, model, { where: { colour: 'red' } }),
  'a database without sessions': (db: Sequelize) =>
    // @ts-expect-error Sequelize has sqlite3 for it
    sequelize(db, { dialect: 'sqlite' }),
  // @ts-expect-error no driver of Knex's that Holdfast knows speaks to DuckDB
  'a database out of reach': (db: Knex) => knex(db, { dialect: 'duckdb' }),
}

test('what gives no list, and a database that Knex does not reach, do not compile', () => {
  expectTypeOf(refused).toBeObject()
})
