/*
 * Each user may store 100, and uploads several files at once.
 *
 * Without the lock each upload adds up the same files, finds room, and adds its own. There is no document to lock that
 * they share, because what they would conflict on is the one that is yet to come: so what is locked is a name.
 */
import { openMongodb } from '../databases/mongodb.ts'

await using database = await openMongodb()
const { locks, db } = await database.connect()
const uploads = await db.createCollection<{ user: string; size: number }>('upload')

async function upload(user: string, size: number): Promise<string> {
  // Taken before anything is read, and held until after COMMIT. Other users have other names, and do not wait.
  return locks.withLock(['image-upload', user], async ({ session }) => {
    const files = await uploads.find({ user }, { session }).toArray()
    const used = files.reduce((sum, file) => sum + file.size, 0)
    if (used + size > 100) return 'refused'
    await uploads.insertOne({ user, size }, { session })
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
const stored = uploads.aggregate([
  { $group: { _id: '$user', used: { $sum: '$size' } } },
  { $sort: { _id: 1 } },
])
for await (const { _id, used } of stored) console.log(`${_id} has stored ${used}`)
