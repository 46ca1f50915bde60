import pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'
import { watchOrder } from '../../src/watch/order.ts'

// Writes to these tables in this order, and what it has seen to the file: node order-child.ts <url> <file> <table...>
const [url = '', file = '', ...tables] = process.argv.slice(2)
watchOrder({ file })
const pool = new pg.Pool({ connectionString: url, max: 1 })
await createLocks(pool).transaction(async (tx) => {
  for (const table of tables) await tx.query(`update ${table} set n = 0 where id = 1`)
})
await pool.end()
