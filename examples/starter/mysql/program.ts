import { createLocks } from 'holdfast/mysql2'
import mysql from 'mysql2/promise'

const db = mysql.createPool(process.env.DATABASE_URL ?? 'mysql://root@localhost/app')
await db.query('CREATE TABLE IF NOT EXISTS demo_books (title varchar(100) PRIMARY KEY, n integer NOT NULL)')
await db.query("REPLACE INTO demo_books VALUES ('Dune', 1)")
const locks = createLocks(db)

async function buy(title: string): Promise<string> {
  return locks.transaction(async (tx) => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'demo_books', key: { title } })
    if (row === undefined || row.n < 1) return 'sold out'
    await tx.query('UPDATE demo_books SET n = n - 1 WHERE title = ?', [title])
    return 'bought'
  })
}

const both = await Promise.all([buy('Dune'), buy('Dune')])
console.log(both.toSorted())
await db.end()
