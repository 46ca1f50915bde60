/*
 * Each user may store 100, and uploads two files at once.
 *
 * Without the lock both uploads add up the same files, find room, and add their own. There is no row to lock that they
 * share, because what they would conflict on is the row that is yet to come: so what is locked is a name.
 */
import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'Uploads of one user at once never exceed what the user may store.',
})
const { locks, tables, unlocked } = await story.connect()
await tables().create('upload', { id: 'text', owner: 'text', size: 'integer' })

interface Upload {
  readonly owner: string
  readonly size: number
}

async function upload(file: string, { owner, size }: Upload, allHaveRead: () => Promise<void>) {
  const store = async (tx: unknown): Promise<string> => {
    const files = await tables(tx).find<Upload>('upload', { owner })
    const used = files.reduce((sum, one) => sum + one.size, 0)
    if (used + size > 100) return 'refused'
    await allHaveRead()
    await tables(tx).insert('upload', { id: file, owner, size })
    return 'stored'
  }
  if (story.withoutLock) return unlocked(store)
  // Taken before anything is read, and held until after COMMIT. Other users have other names, and need not wait, but
  // on SQLite, which has one writer.
  return locks.withLock(['image-upload', owner], store)
}

const allHaveRead = story.meeting(3)
const [bob, ...ada] = await Promise.all([
  upload('cat.png', { owner: 'bob', size: 90 }, allHaveRead),
  upload('sea.png', { owner: 'ada', size: 60 }, allHaveRead),
  upload('sun.png', { owner: 'ada', size: 60 }, allHaveRead),
])
console.log(`ada uploads 60 twice at once: ${ada.toSorted().join(', ')}`)
console.log(`bob uploads 90 meanwhile: ${bob}`)
for (const owner of ['ada', 'bob']) {
  const files = await tables().find<Upload>('upload', { owner })
  console.log(`${owner} has stored ${files.reduce((sum, { size }) => sum + size, 0)} of 100`)
}
