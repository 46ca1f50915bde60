/*
 * Each user may store 100, and uploads several files at once.
 *
 * Without the lock each upload adds up the same files, finds room, and adds its own. There is no row to lock that they
 * share, because what they would conflict on is the row that is yet to come: so what is locked is a name.
 */
import { openDatabase } from './databases/open.ts'

await using database = await openDatabase()
const { locks, query, queryAlone } = await database.connect()
await queryAlone('CREATE TABLE upload (user_name VARCHAR(20) NOT NULL, size INTEGER NOT NULL)')

async function upload(user: string, size: number): Promise<string> {
  // Taken before anything is read, and held until after COMMIT. Other users have other names, and need not wait, but
  // on SQLite, which has one writer.
  return locks.withLock(['image-upload', user], async (tx) => {
    const [row] = await query(tx, 'SELECT COALESCE(SUM(size), 0) AS used FROM upload WHERE user_name = ?', [
      user,
    ])
    if (Number(row?.used) + size > 100) return 'refused'
    await query(tx, 'INSERT INTO upload VALUES (?, ?)', [user, size])
    return 'stored'
  })
}

const [bob, ...ada] = await Promise.all([
  upload('bob', 90),
  ...Array.from({ length: 10 }, () => upload('ada', 30)),
])
const count = (result: string): number => ada.filter((one) => one === result).length
console.log(`ada uploads 30 ten times at once: ${count('stored')} stored, ${count('refused')} refused`)
console.log(`bob uploads 90 meanwhile: ${bob}`)
for (const { user_name, used } of await queryAlone(
  'SELECT user_name, SUM(size) AS used FROM upload GROUP BY user_name ORDER BY user_name',
))
  console.log(`${String(user_name)} has stored ${Number(used)}`)
