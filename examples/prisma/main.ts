/*
 * Prisma with locks: a quota for each user, a webhook that comes twice, and a rule over two rows.
 *
 * `tx` is Prisma's own, with its models. With --without-lock the same lines run on `prisma` itself.
 */
import { openPlace } from '../story/place.ts'
import { openApp } from './database.ts'

await using place = await openPlace({
  defaultUrl: process.env.DATABASE_URL,
  only: { protocols: ['postgres:', 'postgresql:', 'sqlite:'], are: 'PostgreSQL or of an SQLite file' },
  shows: 'A quota, a movement of stock and a serializable transaction through Prisma.',
})
const { prisma, locks } = await openApp(place)

type Tx = Parameters<Parameters<typeof locks.transaction>[0]>[0]
type Met = () => Promise<void>

/** 100 for each user. Two uploads share no row, so what is locked is the user's name. */
async function upload(owner: string, size: number, allHaveRead: Met): Promise<string> {
  const store = async (tx: Tx): Promise<string> => {
    const { _sum } = await tx.upload.aggregate({ where: { owner }, _sum: { size: true } })
    if ((_sum.size ?? 0) + size > 100) return 'refused'
    await allHaveRead()
    await tx.upload.create({ data: { owner, size } })
    return 'stored'
  }
  if (place.withoutLock) return store(prisma)
  return locks.withLock(['upload', owner], store, { wait: { timeoutMs: 60_000 } })
}

/** The mark that the message was handled is stored with what it changed: the second delivery changes nothing. */
async function sell(messageId: string, allHaveRead: Met): Promise<string> {
  const move = async (tx: Tx, n: number): Promise<string> => {
    await allHaveRead()
    if (n < 1) return 'sold out'
    await tx.stock.update({ where: { item: 'shoe' }, data: { n: n - 1 } })
    return 'sold'
  }
  if (place.withoutLock) {
    const { n } = await prisma.stock.findUniqueOrThrow({ where: { item: 'shoe' } })
    return move(prisma, n)
  }
  return locks.transaction(async (tx) => {
    const done = await locks.once(tx, ['sale', messageId], async () => {
      const [shoe] = await locks.rows(tx, 'stock', { where: { item: 'shoe' } })
      return move(tx, shoe?.n ?? 0)
    })
    return done.isFirst ? done.value : 'known already'
  })
}

/** A pen or a pencil has to stay. The two share no row, so the database is to notice: whoever loses is run again. */
async function giveAway(item: string, allHaveRead: Met): Promise<string> {
  const give = async (tx: Tx): Promise<string> => {
    const left = await tx.stock.count({ where: { item: { in: ['pen', 'pencil'] }, n: { gt: 0 } } })
    await allHaveRead()
    if (left < 2) return 'kept'
    await tx.stock.update({ where: { item }, data: { n: 0 } })
    return 'given away'
  }
  if (place.withoutLock) return give(prisma)
  return locks.transaction(give, { isolation: 'serializable', attempts: 20 })
}

async function atOnce(all: readonly ((met: Met) => Promise<string>)[]): Promise<string> {
  const met = place.meeting(all.length)
  return (await Promise.all(all.map((one) => one(met)))).toSorted().join(', ')
}

const uploads = await atOnce([(met) => upload('ada', 60, met), (met) => upload('ada', 60, met)])
console.log(`ada uploads 60 twice at once: ${uploads}`)
const twice = await atOnce([(met) => sell('evt_1', met), (met) => sell('evt_1', met)])
console.log(`one message twice at once: ${twice}`)
const last = await atOnce([(met) => sell('evt_2', met), (met) => sell('evt_3', met)])
console.log(`two sales of the last pair: ${last}`)
const gifts = await atOnce([(met) => giveAway('pen', met), (met) => giveAway('pencil', met)])
console.log(`the pen and the pencil at once: ${gifts}`)
