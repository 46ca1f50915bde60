/*
 * Money moves between accounts, in both directions at once.
 *
 * Without locks two transfers read the same balance, and both spend it, at the isolation that most servers have unless
 * they are told. With the rows locked in the order in which the transfer names them, two opposite ones wait for each
 * other until the database ends one of them as a deadlock.
 */
import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'Transfers in both directions at once neither lose money nor meet in deadlocks.',
})
const { locks, tables, unlocked } = await story.connect()
await tables().create('account', { id: 'text', balance: 'integer' })
for (const [id, balance] of Object.entries({ ada: 60, bob: 140, cleo: 0 }))
  await tables().insert('account', { id, balance })

let deadlocks = 0

interface Transfer {
  readonly from: string
  readonly to: string
  readonly amount: number
}

async function transfer({ from, to, amount }: Transfer, allHaveRead = story.meeting(1)): Promise<string> {
  const move = async (tx: unknown, accounts: readonly object[]): Promise<string> => {
    const [source, target] = accounts as readonly { readonly balance: number }[]
    if (source === undefined || target === undefined) return 'no such account'
    if (source.balance < amount) return 'not enough money'
    await allHaveRead()
    await tables(tx).update('account', from, { balance: source.balance - amount })
    await tables(tx).update('account', to, { balance: target.balance + amount })
    return 'done'
  }
  if (story.withoutLock) {
    return unlocked(async (tx) => {
      const read = [
        await tables(tx).find('account', { id: from }),
        await tables(tx).find('account', { id: to }),
      ]
      return move(tx, read.flat())
    })
  }
  return locks.transaction(
    async (tx) => {
      // Both before either balance is read, and whatever the direction, in one order that everybody shares.
      const wanted = [from, to].map((id) => ({ table: 'account', key: { id } }))
      const locked = await locks.inOrder(tx, wanted)
      return move(
        tx,
        locked.flatMap(({ rows }) => rows),
      )
    },
    { onRetry: ({ kind }) => void (deadlocks += kind === 'deadlock' ? 1 : 0) },
  )
}

if (!story.withoutLock) {
  const there = Array.from({ length: 10 }, () => transfer({ from: 'ada', to: 'bob', amount: 5 }))
  const back = Array.from({ length: 10 }, () => transfer({ from: 'bob', to: 'ada', amount: 5 }))
  const results = await Promise.all([...there, ...back])
  const done = results.filter((result) => result === 'done').length
  console.log(`${done} transfers there and back at once, ${deadlocks} deadlocks`)
}
const allHaveRead = story.meeting(2)
const both = await Promise.all(
  ['bob', 'cleo'].map((to) => transfer({ from: 'ada', to, amount: 40 }, allHaveRead)),
)
console.log(`ada, who has 60, sends 40 to bob and 40 to cleo at once: ${both.toSorted().join(', ')}`)
const accounts = await tables().find<{ balance: number }>('account')
console.log(`ada has ${accounts[0]?.balance}`)
console.log(`200 were paid in, the accounts have ${accounts.reduce((sum, one) => sum + one.balance, 0)}`)
