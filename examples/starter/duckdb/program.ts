import { DuckDBInstance } from '@duckdb/node-api'
import { createLocks } from 'holdfast/duckdb'

const db = await DuckDBInstance.fromCache('books.duckdb')
const connection = await db.connect()
await connection.run('CREATE TABLE IF NOT EXISTS demo_books (title text PRIMARY KEY, n integer NOT NULL)')
await connection.run("INSERT OR REPLACE INTO demo_books VALUES ('Dune', 1)")
const locks = createLocks(db)

async function buy(title: string): Promise<string> {
  return locks.transaction(async (tx) => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'demo_books', key: { title } })
    if (row === undefined || row.n < 1) return 'sold out'
    await tx.run('UPDATE demo_books SET n = n - 1 WHERE title = $1', [title])
    return 'bought'
  })
}

const both = await Promise.all([buy('Dune'), buy('Dune')])
console.log(both.toSorted())
