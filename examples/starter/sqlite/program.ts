import Database from 'better-sqlite3'
import { createLocks } from 'holdfast/better-sqlite3'

const db = new Database('books.db')
db.exec('CREATE TABLE IF NOT EXISTS demo_books (title text PRIMARY KEY, n integer NOT NULL)')
db.exec("INSERT OR REPLACE INTO demo_books VALUES ('Dune', 1)")
const locks = createLocks(db)

async function buy(title: string): Promise<string> {
  return locks.transaction(async (tx) => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'demo_books', key: { title } })
    if (row === undefined || row.n < 1) return 'sold out'
    tx.prepare('UPDATE demo_books SET n = n - 1 WHERE title = ?').run(title)
    return 'bought'
  })
}

const both = await Promise.all([buy('Dune'), buy('Dune')])
console.log(both.toSorted())
db.close()
