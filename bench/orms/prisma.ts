import { PrismaPg } from '@prisma/adapter-pg'

import { PrismaClient } from '../../test/orms/prisma/postgres/client.ts'
import { checkBalance, checkRoom, lockTimeoutMs, missing, type OrmTills, type Place } from './till.ts'

type Tx = Parameters<Parameters<PrismaClient['$transaction']>[0]>[0]

const adapterOf = ({ url, connections }: Place): PrismaPg =>
  new PrismaPg({ connectionString: url, max: connections })

async function takeOne(tx: Pick<Tx, 'account'>, id: number, balance: number | undefined): Promise<void> {
  checkBalance(balance)
  await tx.account.update({ where: { id }, data: { balance: { decrement: 1 } } })
}

async function addImage(tx: Pick<Tx, 'image'>, userId: number): Promise<void> {
  checkRoom(await tx.image.findMany({ where: { id: missing } }))
  await tx.image.create({ data: { userId } })
}

export const prismaTills: OrmTills = {
  holdfast: (library, place, options) => {
    const held = library.prisma.lockable(adapterOf(place))
    const prisma = new PrismaClient({ adapter: held.adapter })
    const locks = library.prisma.createLocks(prisma, held, options)
    return {
      withdraw: (id) =>
        locks.transaction(
          async (tx) => {
            const [row] = await locks.rows(tx, 'account', { where: { id } })
            await takeOne(tx, id, row?.balance)
          },
          { lockTimeoutMs },
        ),
      upload: (user) => locks.withLock(['image', user], (tx) => addImage(tx, user), { lockTimeoutMs }),
      close: () => prisma.$disconnect(),
    }
  },
  byHand: (place, limited) => {
    const prisma = new PrismaClient({ adapter: adapterOf(place) })
    // what Prisma itself asks for a connection and for the whole would be met first by 16 who wait for one row
    const patience = { maxWait: 60_000, timeout: 60_000 }
    const limit = async (tx: Tx): Promise<void> => {
      if (limited) await tx.$executeRawUnsafe(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    }
    return {
      withdraw: (id) =>
        prisma.$transaction(async (tx) => {
          await limit(tx)
          const [row] = await tx.$queryRaw<{ readonly balance_now: number }[]>`
            SELECT balance_now FROM account WHERE id = ${id} FOR UPDATE`
          await takeOne(tx, id, row?.balance_now)
        }, patience),
      upload: (user) =>
        prisma.$transaction(async (tx) => {
          await limit(tx)
          await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`image ${user}`}, 0))`
          await addImage(tx, user)
        }, patience),
      close: () => prisma.$disconnect(),
    }
  },
}
