/*
 * A shop tells us of its sales, now and then twice. Stock changes only together with the movement that says why.
 *
 * Without the row lock two sales of the last pair both find it. Without the unique id a message that comes twice takes
 * two pairs: the lock alone does not help there, since the second comes when the first is done.
 */
import { isUniqueViolation } from 'holdfast'

import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'Of two sales of the last pair one is refused, and a message that comes twice sells one pair.',
})
const { locks, tables, unlocked } = await story.connect()
await tables().create('item', { id: 'text', stock: 'integer' })
// The other side's id is the primary key. A table without room for it has `locks.once(tx, messageId, work)`.
await tables().create('movement', { id: 'text', item: 'text', quantity: 'integer' })
await tables().insert('item', { id: 'shoe', stock: 2 })

interface Item {
  readonly stock: number
}

class SoldOutError extends Error {}

async function sell(messageId: string, allHaveRead: () => Promise<void>): Promise<string> {
  const move = async (tx: unknown, item: Item | undefined): Promise<void> => {
    await allHaveRead()
    // Before the stock is looked at: a message that comes again is known, not sold out.
    await tables(tx).insert('movement', { id: messageId, item: 'shoe', quantity: -1 })
    if (item === undefined || item.stock < 1) throw new SoldOutError()
    await tables(tx).update('item', 'shoe', { stock: item.stock - 1 })
  }
  try {
    if (story.withoutLock) {
      await unlocked(async (tx) => {
        const [item] = await tables(tx).find<Item>('item', { id: 'shoe' })
        await move(tx, item)
      })
    } else {
      await locks.transaction(async (tx) => {
        const [item] = await locks.rows<Item>(tx, { table: 'item', key: { id: 'shoe' } })
        await move(tx, item)
      })
    }
    return 'sold'
  } catch (error) {
    // Outside of the transaction, which has been rolled back: many databases let nobody go on inside.
    if (isUniqueViolation(error)) return 'known already'
    if (error instanceof SoldOutError) return 'sold out'
    throw error
  }
}

const atOnce = async (...messages: readonly string[]): Promise<string> => {
  const allHaveRead = story.meeting(messages.length)
  const results = await Promise.all(messages.map((message) => sell(message, allHaveRead)))
  return results.toSorted().join(', ')
}

console.log(`one message twice at once: ${await atOnce('web-1', 'web-1')}`)
console.log(`two sales of the last pair: ${await atOnce('web-2', 'web-3')}`)
console.log(`the first message again: ${await atOnce('web-1')}`)
const [left] = await tables().find<Item>('item')
const moved = await tables().find('movement')
console.log(`${moved.length} of 2 pairs are sold, ${left?.stock} are in stock`)
