/*
 * Three nodes are deployed at once, and each of them brings the database up to date before it starts.
 *
 * Without the lock each node looks which migrations have been run, finds that the same one is missing, and runs it: the
 * welcome credit is given three times. A transaction is no way out, because many databases commit at each change of a
 * table; so the lock is held outside of any.
 */
import type { Tables } from './databases/tables.ts'
import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'Three nodes are deployed at once, and each migration is run by one of them.',
})
const { tables } = await story.connect()
await tables().create('migration', { id: 'text', name: 'text' })
await tables().create('credit', { id: 'text', amount: 'integer' })

const migrations: Readonly<Record<string, (inside: Tables, node: string) => Promise<unknown>>> = {
  'welcome credit': (inside, node) => inside.insert('credit', { id: `given by ${node}`, amount: 10 }),
}

const allHaveLooked = story.meeting(3)

/** Says how many migrations it has run. */
async function bringUpToDate(inside: Tables, node: string): Promise<number> {
  const done = await inside.find<{ name: string }>('migration')
  await allHaveLooked()
  const missing = Object.entries(migrations).filter(([name]) => done.every((one) => one.name !== name))
  for (const [name, migrate] of missing) {
    await migrate(inside, node)
    await inside.insert('migration', { id: `${name} by ${node}`, name })
  }
  return missing.length
}

async function deploy(node: string): Promise<number> {
  const { locks, tables: tablesOf, unlocked } = await story.connect()
  const migrateAll = (tx: unknown): Promise<number> => bringUpToDate(tablesOf(tx), node)
  if (story.withoutLock) return unlocked(migrateAll)
  // Whoever comes second looks when the first is done, and finds nothing to do.
  return locks.migrationLock(() => locks.transaction(migrateAll))
}

const ran = await Promise.all(['ada', 'bob', 'cleo'].map(deploy))
console.log(`${ran.filter((count) => count > 0).length} of 3 nodes ran a migration`)
const credits = await tables().find<{ amount: number }>('credit')
console.log(`the customer was promised 10, and has ${credits.reduce((sum, { amount }) => sum + amount, 0)}`)
