/*
 * A shop tells us of its sales, now and then twice. Stock changes only together with the movement that says why.
 *
 * Without the row lock two sales of the last pair both find it. Without the unique id a message that comes twice takes
 * two pairs. Serializable isolation sees the first of these too, but ends a transaction with an error for it: so it is
 * worth nothing to users unless the transaction runs again, as it does here.
 */
import { isUniqueViolation } from 'holdfast'

import { openDatabase } from './databases/open.ts'

await using database = await openDatabase()
const { locks, query, queryAlone } = await database.connect()
await queryAlone('CREATE TABLE item (id VARCHAR(20) PRIMARY KEY, stock INTEGER NOT NULL)')
// A table without room for the other side's id has `locks.once(tx, externalId, work)`.
await queryAlone(
  'CREATE TABLE movement (external_id VARCHAR(40) PRIMARY KEY, item VARCHAR(20) NOT NULL, quantity INTEGER NOT NULL)',
)
await queryAlone("INSERT INTO item VALUES ('shoe', 2)")

class SoldOutError extends Error {}

async function sell(externalId: string): Promise<string> {
  try {
    await locks.transaction(
      async (tx) => {
        const [item] = await locks.rows(tx, { table: 'item', key: { id: 'shoe' } })
        // Before the stock is looked at: a message that comes again is known, not sold out.
        await query(tx, 'INSERT INTO movement VALUES (?, ?, ?)', [externalId, 'shoe', -1])
        if (item === undefined || Number(item.stock) < 1) throw new SoldOutError()
        await query(tx, 'UPDATE item SET stock = stock - 1 WHERE id = ?', ['shoe'])
      },
      { isolation: database.isolation },
    )
    return 'sold'
  } catch (error) {
    // Outside of the transaction, which has been rolled back: many databases let nobody go on inside.
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
const [left] = await queryAlone('SELECT stock FROM item')
const [moved] = await queryAlone('SELECT COUNT(*) AS movements, SUM(quantity) AS quantity FROM movement')
console.log(
  `stock ${Number(left?.stock)}, ${Number(moved?.movements)} movements of ${Number(moved?.quantity)}`,
)
