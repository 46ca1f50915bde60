import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnMysql } from 'drizzle-orm/mysql2'
import { drizzle } from 'drizzle-orm/node-postgres'
import { knex, type Knex } from 'knex'
import { Kysely, MysqlDialect, sql as kyselySql } from 'kysely'
import { createPool } from 'mysql2'
import { createPool as createPromisePool, type Connection } from 'mysql2/promise'
import pg from 'pg'
import { QueryTypes, type Transaction } from 'sequelize'
import { expect, test } from 'vitest'

import { createLocks as locksOnDrizzle } from '../../src/entries/drizzle.ts'
import { createLocks as locksOnKnex } from '../../src/entries/knex.ts'
import { createLocks as locksOnKysely } from '../../src/entries/kysely.ts'
import { createLocks as locksOnMysql } from '../../src/entries/mysql2.ts'
import { explore, type RaceReport } from '../../src/entries/race.ts'
import { createLocks as locksOnSequelize } from '../../src/entries/sequelize.ts'
import { createLocks as locksOnTypeorm } from '../../src/entries/typeorm.ts'
import { describeEngines, until } from '../engines/use.ts'
import { openPrisma } from '../orms/prisma.ts'
import { openSequelize } from '../orms/sequelize.ts'
import { openTypeorm } from '../orms/typeorm.ts'
import { patient } from './six.ts'
import { fill, mysqlShop, pgShop, type Row, type Run, type Shop } from './stage.ts'

/** An application on an ORM: what the explorer is given, and a transaction of its own. */
interface App {
  readonly db: object
  readonly transaction: (work: (run: Run) => Promise<void>) => Promise<unknown>
  /** One of the library. */
  readonly ours?: (work: (run: Run) => Promise<void>) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

const rowsOf = (answer: unknown): readonly Row[] => {
  const rows: unknown = Array.isArray(answer) ? answer[0] : (answer as { rows?: unknown }).rows
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}

// not what is the default somewhere: MariaDB 11.6 refuses there what a race would lose
const level = { isolation: 'read committed' } as const

type Open = (url: string, engine: string) => Promise<App>

const onKnex =
  (client: string): Open =>
  async (connection) => {
    const db = knex({ client, connection, pool: { min: 0, max: 5 } })
    const run =
      (tx: Knex.Transaction): Run =>
      async (text) =>
        rowsOf(await tx.raw(text))
    const locks = locksOnKnex(db)
    return {
      db,
      transaction: (work) => db.transaction((tx) => work(run(tx))),
      ours: (work) => locks.transaction((tx) => work(run(tx)), level),
      close: () => db.destroy(),
    }
  }

const onSequelize =
  (engine: string): Open =>
  async (url) => {
    const db = openSequelize(engine, url, 5)
    const locks = locksOnSequelize(db)
    const run =
      (tx: Transaction): Run =>
      async (text) => {
        const type = text.startsWith('SELECT') ? QueryTypes.SELECT : QueryTypes.RAW
        const rows: unknown = await db.query(text, { transaction: tx, type })
        return rows as readonly Row[]
      }
    return {
      db,
      transaction: (work) => db.transaction((tx) => work(run(tx))),
      ours: (work) => locks.transaction((tx) => work(run(tx)), level),
      close: () => db.close(),
    }
  }

const onTypeorm =
  (engine: string): Open =>
  async (url) => {
    const db = await openTypeorm(engine, url, 5)
    const locks = locksOnTypeorm(db)
    return {
      db,
      transaction: (work) => db.transaction((tx) => work((text) => tx.query(text))),
      ours: (work) => locks.transaction((tx) => work((text) => tx.query(text)), level),
      close: () => db.destroy(),
    }
  }

const apps: Readonly<Record<string, Readonly<Record<string, Open>>>> = {
  postgres: {
    Drizzle: async (url) => {
      const pool = new pg.Pool({ connectionString: url })
      const db = drizzle(pool)
      const transaction: App['transaction'] = (work) =>
        db.transaction((tx) => work(async (text) => rowsOf(await tx.execute(sql.raw(text)))))
      return { db, transaction, close: () => pool.end() }
    },
    Prisma: async (url) => {
      const { prisma, pool, close } = openPrisma(url, 5)
      const transaction: App['transaction'] = (work) =>
        prisma.$transaction((tx) => work(async (text) => tx.$queryRawUnsafe<Row[]>(text)))
      return { db: pool, transaction, close }
    },
    Knex: onKnex('pg'),
    Sequelize: onSequelize('postgres'),
    TypeORM: onTypeorm('postgres'),
  },
  mysql: {
    Kysely: async (url, engine) => {
      const db = new Kysely<Record<string, never>>({
        dialect: new MysqlDialect({ pool: createPool({ uri: url }) }),
      })
      const locks = locksOnKysely(db, {
        dialect: engine as 'mysql' | 'mariadb',
      })
      const run =
        (tx: Kysely<Record<string, never>>): Run =>
        async (text) =>
          (await kyselySql.raw(text).execute(tx)).rows as readonly Row[]
      return {
        db,
        transaction: (work) => db.transaction().execute((tx) => work(run(tx))),
        ours: (work) => locks.transaction((tx) => work(run(tx)), level),
        close: () => db.destroy(),
      }
    },
    'statements that are prepared': async (url) => {
      const db = createPromisePool({ uri: url })
      const locks = locksOnMysql(db)
      const run =
        (on: Connection): Run =>
        async (text) => {
          const statement = await on.prepare(text)
          return rowsOf(await statement.execute([]))
        }
      const transaction: App['transaction'] = async (work) => {
        const connection = await db.getConnection()
        await connection.beginTransaction()
        await work(run(connection))
        await connection.commit()
        connection.release()
      }
      const ours: App['ours'] = (work) => locks.transaction((tx) => work(run(tx)), level)
      return { db, transaction, ours, close: () => db.end() }
    },
    'statements that are prepared at once': async (url) => {
      const db = createPromisePool({ uri: url })
      const locks = locksOnMysql(db)
      const run =
        (on: Connection): Run =>
        async (text) =>
          rowsOf(await on.execute(text))
      const transaction: App['transaction'] = async (work) => {
        const connection = await db.getConnection()
        await connection.beginTransaction()
        await work(run(connection))
        await connection.commit()
        connection.release()
      }
      const ours: App['ours'] = (work) => locks.transaction((tx) => work(run(tx)), level)
      return { db, transaction, ours, close: () => db.end() }
    },
    Drizzle: async (url) => {
      const pool = createPromisePool({ uri: url })
      const db = drizzleOnMysql(pool)
      const locks = locksOnDrizzle(db)
      const run =
        (on: Pick<typeof db, 'execute'>): Run =>
        async (text) =>
          rowsOf(await on.execute(sql.raw(text)))
      return {
        db,
        transaction: (work) => db.transaction((tx) => work(run(tx))),
        ours: (work) => locks.transaction((tx) => work(run(tx)), level),
        close: () => pool.end(),
      }
    },
    Knex: onKnex('mysql2'),
    Sequelize: onSequelize('mysql'),
    TypeORM: onTypeorm('mysql'),
  },
}

const tells = async (shop: Shop): Promise<number> => Number((await shop.run('SELECT n FROM item'))[0]?.n)

/** The last item: twice, and once under a lock. */
async function sold(shop: Shop, { db, transaction }: Pick<App, 'db' | 'transaction'>): Promise<void> {
  const buy = (clause: string) => () =>
    transaction(async (run) => {
      const [row] = await run(`SELECT n FROM item WHERE id = 1 ${clause}`)
      if (Number(row?.n) > 0) await run('UPDATE item SET n = n - 1 WHERE id = 1')
    })
  const sale = (clause: string): Promise<RaceReport> =>
    explore({
      db,
      reset: () => fill(shop, { 1: 1 }),
      actors: { a: buy(clause), b: buy(clause) },
      invariant: async ({ a, b }) => {
        expect([a.status, b.status]).toEqual(['fulfilled', 'fulfilled'])
        if ((await tells(shop)) < 0) throw new Error('sold twice')
      },
      ...patient,
    })
  const bare = await sale('')
  expect([bare.verdict, bare.failure?.reason, bare.failure?.switches]).toEqual(['race', 'sold twice', 1])
  expect(bare.schedules).toBeLessThanOrEqual(50)
  const locked = await sale('FOR UPDATE')
  expect([locked.failure?.reason, locked.notes, locked.isComplete]).toEqual([undefined, [], true])
  expect(locked.schedules).toBeGreaterThan(2)
}

describeEngines(
  (context) => {
    const { name } = context
    test.each(Object.entries(apps[name === 'mariadb' ? 'mysql' : name] ?? {}))(
      'the last item is sold twice through %s, once under a lock, and nothing stays behind',
      async (_, open) => {
        const { url } = context.engine.server
        const shop = await (name === 'postgres' ? pgShop(url) : mysqlShop(url))
        const app = await open(url, name)
        try {
          for (const transaction of [app.transaction, app.ours])
            if (transaction !== undefined) await sold(shop, { db: app.db, transaction })
          await until(async () => (await context.engine.leftovers()).length === 0, 'nothing left')
          const never = (): Promise<unknown> =>
            app.transaction(async (run) => {
              await run('UPDATE item SET n = 7 WHERE id = 1')
              await new Promise(() => {})
            })
          const hung = await explore({
            db: app.db,
            actors: { a: never, b: never },
            hangMs: 500,
            patienceMs: 100,
          })
          expect(hung.verdict).toBe('hang')
          await until(async () => (await context.engine.leftovers()).length === 0, 'nothing left')
          await app.transaction(async (run) => void (await run('SELECT 1')))
        } finally {
          await app.close()
          await shop.close()
        }
      },
    )
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)
