import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { knex, type Knex } from 'knex'
import { Kysely, MysqlDialect, sql as kyselySql } from 'kysely'
import { createPool } from 'mysql2'
import { createPool as createPromisePool } from 'mysql2/promise'
import pg from 'pg'
import { QueryTypes } from 'sequelize'
import { expect, test } from 'vitest'

import { explore } from '../../src/entries/race.ts'
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
  readonly close: () => Promise<unknown>
}

const rowsOf = (answer: unknown): readonly Row[] => {
  const rows: unknown = Array.isArray(answer) ? answer[0] : (answer as { rows?: unknown }).rows
  return Array.isArray(rows) ? (rows as readonly Row[]) : []
}

type Open = (url: string) => Promise<App>

const onKnex =
  (client: string): Open =>
  async (connection) => {
    const db = knex({ client, connection, pool: { min: 0, max: 5 } })
    const run =
      (tx: Knex.Transaction): Run =>
      async (text) =>
        rowsOf(await tx.raw(text))
    return { db, transaction: (work) => db.transaction((tx) => work(run(tx))), close: () => db.destroy() }
  }

const onSequelize =
  (engine: string): Open =>
  async (url) => {
    const db = openSequelize(engine, url, 5)
    const transaction: App['transaction'] = (work) =>
      db.transaction((tx) =>
        work(async (text) => {
          const type = text.startsWith('SELECT') ? QueryTypes.SELECT : QueryTypes.RAW
          const rows: unknown = await db.query(text, { transaction: tx, type })
          return rows as readonly Row[]
        }),
      )
    return { db, transaction, close: () => db.close() }
  }

const onTypeorm =
  (engine: string): Open =>
  async (url) => {
    const db = await openTypeorm(engine, url, 5)
    const transaction: App['transaction'] = (work) => db.transaction((tx) => work((text) => tx.query(text)))
    return { db, transaction, close: () => db.destroy() }
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
    Kysely: async (url) => {
      const db = new Kysely<Record<string, never>>({
        dialect: new MysqlDialect({ pool: createPool({ uri: url }) }),
      })
      const transaction: App['transaction'] = (work) =>
        db
          .transaction()
          .execute((tx) =>
            work(async (text) => (await kyselySql.raw(text).execute(tx)).rows as readonly Row[]),
          )
      return { db, transaction, close: () => db.destroy() }
    },
    'statements that are prepared': async (url) => {
      const db = createPromisePool({ uri: url })
      const transaction: App['transaction'] = async (work) => {
        const connection = await db.getConnection()
        await connection.beginTransaction()
        await work(async (text) => {
          const statement = await connection.prepare(text)
          return rowsOf(await statement.execute([]))
        })
        await connection.commit()
        connection.release()
      }
      return { db, transaction, close: () => db.end() }
    },
    Knex: onKnex('mysql2'),
    Sequelize: onSequelize('mysql'),
    TypeORM: onTypeorm('mysql'),
  },
}

const tells = async (shop: Shop): Promise<number> => Number((await shop.run('SELECT n FROM item'))[0]?.n)

describeEngines(
  (context) => {
    const { name } = context
    test.each(Object.entries(apps[name === 'mariadb' ? 'mysql' : name] ?? {}))(
      'the last item is sold twice through %s, once under a lock, and nothing stays behind',
      async (_, open) => {
        const { url } = context.engine.server
        const shop = await (name === 'postgres' ? pgShop(url) : mysqlShop(url))
        const app = await open(url)
        try {
          const buy = (clause: string) => () =>
            app.transaction(async (run) => {
              const [row] = await run(`SELECT n FROM item WHERE id = 1 ${clause}`)
              if (Number(row?.n) > 0) await run('UPDATE item SET n = n - 1 WHERE id = 1')
            })
          const sale = (clause: string) =>
            explore({
              db: app.db,
              reset: () => fill(shop, { 1: 1 }),
              actors: { a: buy(clause), b: buy(clause) },
              invariant: async () => {
                if ((await tells(shop)) < 0) throw new Error('sold twice')
              },
              ...patient,
            })
          const bare = await sale('')
          expect([bare.verdict, bare.failure?.reason, bare.failure?.switches]).toEqual([
            'race',
            'sold twice',
            1,
          ])
          expect(bare.schedules).toBeLessThanOrEqual(50)
          const locked = await sale('FOR UPDATE')
          expect([locked.failure?.reason, locked.notes, locked.isComplete]).toEqual([undefined, [], true])
          expect(locked.schedules).toBeGreaterThan(2)
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
