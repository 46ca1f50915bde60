import { createLocks } from 'holdfast/mssql'
import sql from 'mssql'

const db = await new sql.ConnectionPool(process.env.DATABASE_URL ?? 'Server=localhost;Database=app').connect()
const columns = '(title varchar(100) PRIMARY KEY, n integer NOT NULL)'
await db.query(`IF OBJECT_ID(N'demo_books') IS NULL CREATE TABLE demo_books ${columns}`)
await db.query("DELETE FROM demo_books WHERE title = 'Dune'; INSERT INTO demo_books VALUES ('Dune', 1)")
const locks = createLocks(db)

async function buy(title: string): Promise<string> {
  return locks.transaction(async (tx) => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'demo_books', key: { title } })
    if (row === undefined || row.n < 1) return 'sold out'
    await tx.request().input('title', title).query('UPDATE demo_books SET n = n - 1 WHERE title = @title')
    return 'bought'
  })
}

const both = await Promise.all([buy('Dune'), buy('Dune')])
console.log(both.toSorted())
await db.close()
