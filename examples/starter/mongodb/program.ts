import { createLocks } from 'holdfast/mongodb'
import { MongoClient } from 'mongodb'

const client = new MongoClient(process.env.DATABASE_URL ?? 'mongodb://localhost/app?replicaSet=rs0')
await client
  .db()
  .collection('demo_books')
  .replaceOne({ title: 'Dune' }, { title: 'Dune', n: 1 }, { upsert: true })
const locks = createLocks(client)

async function buy(title: string): Promise<string> {
  return locks.transaction(async (tx) => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'demo_books', key: { title } })
    if (row === undefined || row.n < 1) return 'sold out'
    await tx.db.collection('demo_books').updateOne({ title }, { $inc: { n: -1 } }, { session: tx.session })
    return 'bought'
  })
}

const both = await Promise.all([buy('Dune'), buy('Dune')])
console.log(both.toSorted())
await client.close()
