/*
 * Money moves between two accounts, in both directions at once.
 *
 * Without locks two transfers read the same balance, and both spend it, at the isolation that most servers have unless
 * they are told. With the rows locked in the order in which the transfer names them, two opposite ones wait for each
 * other until the database ends one of them as a deadlock.
 */
import { openDatabase } from './databases/open.ts'

await using database = await openDatabase()
const { locks, query, queryAlone } = await database.connect()
await queryAlone('CREATE TABLE account (id VARCHAR(20) PRIMARY KEY, balance INTEGER NOT NULL)')
await queryAlone("INSERT INTO account VALUES ('ada', 100), ('bob', 100)")

let deadlocks = 0

async function transfer(from: string, to: string, amount: number): Promise<string> {
  return locks.transaction(
    async (tx) => {
      // Both before either balance is read, and whatever the direction, in one order that everybody shares.
      const accounts = await locks.inOrder(
        tx,
        [from, to].map((id) => ({ table: 'account', key: { id } })),
      )
      const [source, target] = accounts.map(({ rows: [row] }) => row)
      if (source === undefined || target === undefined) return 'no such account'
      if (Number(source.balance) < amount) return 'not enough money'
      await query(tx, 'UPDATE account SET balance = balance - ? WHERE id = ?', [amount, from])
      await query(tx, 'UPDATE account SET balance = balance + ? WHERE id = ?', [amount, to])
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
for (const { id, balance } of await queryAlone('SELECT id, balance FROM account ORDER BY id'))
  console.log(`${String(id)} has ${Number(balance)}`)
