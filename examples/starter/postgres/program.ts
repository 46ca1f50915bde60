import { createLocks } from 'holdfast/pg'
import pg from 'pg'

const db = new pg.Pool({ connectionString: process.env.DATABASE_URL })
db.on('error', console.error) // an idle connection that breaks must not end the process
await db.query('CREATE TABLE IF NOT EXISTS demo_books (title text PRIMARY KEY, n integer NOT NULL)')
await db.query("INSERT INTO demo_books VALUES ('Dune', 1) ON CONFLICT (title) DO UPDATE SET n = 1")
const locks = createLocks(db)

async function buy(title: string): Promise<string> {
  return locks.transaction(async (tx) => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'demo_books', key: { title } })
    if (row === undefined || row.n < 1) return 'sold out'
    await tx.query('UPDATE demo_books SET n = n - 1 WHERE title = $1', [title])
    return 'bought'
  })
}

const both = await Promise.all([buy('Dune'), buy('Dune')])
console.log(both.toSorted())
await db.end()
