/*
 * Money moves between two accounts, in both directions at once.
 *
 * Outside of a transaction two transfers find the same balance, and both spend it. Inside, MongoDB refuses the second
 * change of a document with an error, and the work must be run again; it refuses nothing when a document was only read
 * to decide on it. The lock covers both.
 */
import { openMongodb } from '../databases/mongodb.ts'

await using database = await openMongodb()
const { locks, db } = await database.connect()
const account = db.collection<{ _id: string; balance: number }>('account')
await account.insertMany(['ada', 'bob'].map((_id) => ({ _id, balance: 100 })))

let deadlocks = 0

async function transfer(from: string, to: string, amount: number): Promise<string> {
  return locks.transaction(
    async (tx) => {
      // Both before either balance is read, and whatever the direction, in one order that everybody shares.
      const accounts = await locks.inOrder(
        tx,
        [from, to].map((_id) => ({ table: 'account', key: { _id } })),
      )
      const [source, target] = accounts.map(({ rows: [row] }) => row)
      if (source === undefined || target === undefined) return 'no such account'
      if (Number(source.balance) < amount) return 'not enough money'
      // Without the session these would not be part of the transaction.
      const { session } = tx
      await account.updateOne({ _id: from }, { $inc: { balance: -amount } }, { session })
      await account.updateOne({ _id: to }, { $inc: { balance: amount } }, { session })
      return 'done'
    },
    { onRetry: ({ kind }) => void (deadlocks += kind === 'deadlock' ? 1 : 0) },
  )
}

const there = Array.from({ length: 10 }, () => transfer('ada', 'bob', 7))
const back = Array.from({ length: 10 }, () => transfer('bob', 'ada', 3))
const results = await Promise.all([...there, ...back])
console.log(`${results.filter((result) => result === 'done').length} transfers done, ${deadlocks} deadlocks`)
const twice = await Promise.all([transfer('ada', 'bob', 40), transfer('ada', 'bob', 40)])
console.log(`ada, who has 60, sends 40 twice at once: ${twice.toSorted().join(', ')}`)
for (const { _id, balance } of await account.find().sort({ _id: 1 }).toArray())
  console.log(`${_id} has ${balance}`)
