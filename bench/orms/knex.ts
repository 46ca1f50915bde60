import makeKnex, { type Knex } from 'knex'

import { checkBalance, checkRoom, lockTimeoutMs, missing, type OrmTills, type Place } from './till.ts'

interface Account {
  readonly id: number
  readonly balance_now: number
}

const open = ({ url, connections }: Place): Knex =>
  makeKnex({ client: 'pg', connection: url, pool: { min: 0, max: connections } })

const accountOf = (tx: Knex.Transaction, id: number) =>
  tx<Account>('account').select('balance_now').where({ id })

async function takeOne(tx: Knex.Transaction, id: number, balance: number | undefined): Promise<void> {
  checkBalance(balance)
  await tx('account').where({ id }).decrement('balance_now', 1)
}

async function addImage(tx: Knex.Transaction, user: number): Promise<void> {
  checkRoom(await tx('image').select('id').where({ id: missing }))
  await tx('image').insert({ user_id: user })
}

export const knexTills: OrmTills = {
  holdfast: (library, place, options) => {
    const knex = open(place)
    const locks = library.knex.createLocks(knex, options)
    return {
      withdraw: (id) =>
        locks.transaction(
          async (tx) => {
            const [row] = await locks.rows(tx, accountOf(tx, id))
            await takeOne(tx, id, row?.balance_now)
          },
          { lockTimeoutMs },
        ),
      upload: (user) => locks.withLock(['image', user], (tx) => addImage(tx, user), { lockTimeoutMs }),
      close: () => knex.destroy(),
    }
  },
  byHand: (place, limited) => {
    const knex = open(place)
    const limit = async (tx: Knex.Transaction): Promise<void> => {
      if (limited) await tx.raw(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    }
    return {
      withdraw: (id) =>
        knex.transaction(async (tx) => {
          await limit(tx)
          const [row] = await accountOf(tx, id).forUpdate()
          await takeOne(tx, id, row?.balance_now)
        }),
      upload: (user) =>
        knex.transaction(async (tx) => {
          await limit(tx)
          await tx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`image ${user}`])
          await addImage(tx, user)
        }),
      close: () => knex.destroy(),
    }
  },
}
