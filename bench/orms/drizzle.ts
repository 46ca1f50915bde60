import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable, serial } from 'drizzle-orm/pg-core'
import pg from 'pg'

import { checkBalance, checkRoom, lockTimeoutMs, missing, type OrmTills, type Place } from './till.ts'

const account = pgTable('account', { id: integer().primaryKey(), balance: integer('balance_now').notNull() })
const image = pgTable('image', { id: serial().primaryKey(), userId: integer('user_id').notNull() })

function open({ url, connections }: Place) {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  return { db: drizzle(pool), close: () => pool.end() }
}

type Db = ReturnType<typeof open>['db']
type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

const accountOf = (tx: Tx, id: number) => tx.select().from(account).where(eq(account.id, id))

async function takeOne(tx: Tx, id: number, balance: number | undefined): Promise<void> {
  checkBalance(balance)
  await tx
    .update(account)
    .set({ balance: sql`${account.balance} - 1` })
    .where(eq(account.id, id))
}

async function addImage(tx: Tx, userId: number): Promise<void> {
  checkRoom(await tx.select().from(image).where(eq(image.id, missing)))
  await tx.insert(image).values({ userId })
}

export const drizzleTills: OrmTills = {
  holdfast: (library, place, options) => {
    const { db, close } = open(place)
    const locks = library.drizzle.createLocks(db, options)
    return {
      withdraw: (id) =>
        locks.transaction(
          async (tx) => {
            const [row] = await locks.rows(tx, accountOf(tx, id))
            await takeOne(tx, id, row?.balance)
          },
          { lockTimeoutMs },
        ),
      upload: (user) => locks.withLock(['image', user], (tx) => addImage(tx, user), { lockTimeoutMs }),
      close,
    }
  },
  byHand: (place, limited) => {
    const { db, close } = open(place)
    const limit = async (tx: Tx): Promise<void> => {
      if (limited) await tx.execute(sql`SET LOCAL lock_timeout = ${sql.raw(String(lockTimeoutMs))}`)
    }
    return {
      withdraw: (id) =>
        db.transaction(async (tx) => {
          await limit(tx)
          const [row] = await accountOf(tx, id).for('update')
          await takeOne(tx, id, row?.balance)
        }),
      upload: (user) =>
        db.transaction(async (tx) => {
          await limit(tx)
          await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`image ${user}`}, 0))`)
          await addImage(tx, user)
        }),
      close,
    }
  },
}
