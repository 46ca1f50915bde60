/*
 * A shop tells us of its sales, now and then twice. Stock changes only together with the movement that says why.
 *
 * Without the lock a sale may decide on a stock that another is about to change. Without the unique id a message that
 * comes twice takes two pairs. A transaction that meets another one is ended with an error by MongoDB: that is why it
 * runs again by itself here.
 */
import { isUniqueViolation } from 'holdfast'

import { openMongodb } from '../databases/mongodb.ts'

await using database = await openMongodb()
const { locks, db } = await database.connect()
const items = db.collection<{ _id: string; stock: number }>('item')
// A collection without room for the other side's id has `locks.once(tx, externalId, work)`.
const movements = await db.createCollection<{ _id: string; item: string; quantity: number }>('movement')
await items.insertOne({ _id: 'shoe', stock: 2 })

class SoldOutError extends Error {}

async function sell(externalId: string): Promise<string> {
  try {
    await locks.transaction(async (tx) => {
      const { session } = tx
      const [item] = await locks.rows(tx, { table: 'item', key: { _id: 'shoe' } })
      // Before the stock is looked at: a message that comes again is known, not sold out.
      await movements.insertOne({ _id: externalId, item: 'shoe', quantity: -1 }, { session })
      if (item === undefined || Number(item.stock) < 1) throw new SoldOutError()
      await items.updateOne({ _id: 'shoe' }, { $inc: { stock: -1 } }, { session })
    })
    return 'sold'
  } catch (error) {
    // Outside of the transaction, which has been rolled back: MongoDB lets nobody go on inside.
    if (isUniqueViolation(error)) return 'known already'
    if (error instanceof SoldOutError) return 'sold out'
    throw error
  }
}

const report = async (...ids: readonly string[]): Promise<string> =>
  (await Promise.all(ids.map(sell))).toSorted().join(', ')

console.log(`one message twice at once: ${await report('web-1', 'web-1')}`)
console.log(`two sales of the last pair: ${await report('web-2', 'web-3')}`)
console.log(`the first message again: ${await report('web-1')}`)
const left = await items.findOne()
const moved = await movements.find().toArray()
const quantity = moved.reduce((sum, movement) => sum + movement.quantity, 0)
console.log(`stock ${left?.stock}, ${moved.length} movements of ${quantity}`)
