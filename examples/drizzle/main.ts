/*
 * Drizzle with locks: a quota for each user, a webhook that comes twice, and a rule over two rows.
 *
 * `tx` is Drizzle's own. With --without-lock the same lines run on `db` itself.
 */
import { and, eq, gt, inArray, sum } from 'drizzle-orm'

import { openPlace } from '../story/place.ts'
import { openApp } from './database.ts'

await using place = await openPlace({
  defaultUrl: process.env.DATABASE_URL,
  only: { protocols: ['postgres:', 'postgresql:', 'sqlite:'], are: 'PostgreSQL or of an SQLite file' },
  shows: 'A quota, a movement of stock and a serializable transaction through Drizzle.',
})
const { db, locks, uploads, stock } = await openApp(place)

type Tx = Pick<typeof db, 'select' | 'insert' | 'update'>
type Met = () => Promise<void>

/** 100 for each user. Two uploads share no row, so what is locked is the user's name. */
async function upload(owner: string, size: number, allHaveRead: Met): Promise<string> {
  const store = async (tx: Tx): Promise<string> => {
    const [used] = await tx
      .select({ size: sum(uploads.size) })
      .from(uploads)
      .where(eq(uploads.owner, owner))
    if (Number(used?.size ?? 0) + size > 100) return 'refused'
    await allHaveRead()
    await tx.insert(uploads).values({ owner, size })
    return 'stored'
  }
  if (place.withoutLock) return store(db)
  return locks.withLock(['upload', owner], store, { wait: { timeoutMs: 60_000 } })
}

const shoes = (tx: Tx) => tx.select().from(stock).where(eq(stock.item, 'shoe'))

/** The mark that the message was handled is stored with what it changed: the second delivery changes nothing. */
async function sell(messageId: string, allHaveRead: Met): Promise<string> {
  const move = async (tx: Tx, n: number): Promise<string> => {
    await allHaveRead()
    if (n < 1) return 'sold out'
    await tx
      .update(stock)
      .set({ n: n - 1 })
      .where(eq(stock.item, 'shoe'))
    return 'sold'
  }
  if (place.withoutLock) {
    const [shoe] = await shoes(db)
    return move(db, shoe?.n ?? 0)
  }
  return locks.transaction(async (tx) => {
    const done = await locks.once(tx, ['sale', messageId], async () => {
      const [shoe] = await locks.rows(tx, shoes(tx))
      return move(tx, shoe?.n ?? 0)
    })
    return done.isFirst ? done.value : 'known already'
  })
}

/** A pen or a pencil has to stay. The two share no row, so the database is to notice: whoever loses is run again. */
async function giveAway(item: string, allHaveRead: Met): Promise<string> {
  const give = async (tx: Tx): Promise<string> => {
    const left = await tx
      .select()
      .from(stock)
      .where(and(inArray(stock.item, ['pen', 'pencil']), gt(stock.n, 0)))
    await allHaveRead()
    if (left.length < 2) return 'kept'
    await tx.update(stock).set({ n: 0 }).where(eq(stock.item, item))
    return 'given away'
  }
  if (place.withoutLock) return give(db)
  return locks.transaction(give, { isolation: 'serializable', attempts: 20 })
}

async function atOnce(all: readonly ((met: Met) => Promise<string>)[]): Promise<string> {
  const met = place.meeting(all.length)
  return (await Promise.all(all.map((one) => one(met)))).toSorted().join(', ')
}

const stored = await atOnce([(met) => upload('ada', 60, met), (met) => upload('ada', 60, met)])
console.log(`ada uploads 60 twice at once: ${stored}`)
const twice = await atOnce([(met) => sell('evt_1', met), (met) => sell('evt_1', met)])
console.log(`one message twice at once: ${twice}`)
const last = await atOnce([(met) => sell('evt_2', met), (met) => sell('evt_3', met)])
console.log(`two sales of the last pair: ${last}`)
const gifts = await atOnce([(met) => giveAway('pen', met), (met) => giveAway('pencil', met)])
console.log(`the pen and the pencil at once: ${gifts}`)
