/*
 * A customer buys credits and spends them through functions that the platform starts when they are called: each has a
 * connection of its own, many run at once, and a call that seems lost is made again.
 *
 * The balance is the sum of the entries. Without the lock two calls add up the same entries, and both spend what is
 * there once. Without `once` the call that is made again is paid again.
 */
import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'Functions that run at once never spend more credits than there are, and a repeated call pays once.',
})
const { tables } = await story.connect()
await tables().create('customer', { id: 'text' })
await tables().create('entry', { id: 'text', customer: 'text', credits: 'integer' })
await tables().insert('customer', { id: 'ada' })
await tables().insert('entry', { id: 'bought', customer: 'ada', credits: 10 })

interface Entry {
  readonly id: string
  readonly credits: number
}

const sum = (entries: readonly Entry[]): number => entries.reduce((total, { credits }) => total + credits, 0)

class NotEnoughError extends Error {}

/** One call of the function: it connects, spends, and is gone. */
async function spend(callId: string, credits: number, allHaveRead: () => Promise<void>): Promise<string> {
  const instance = await story.connect(1)
  const pay = async (tx: unknown): Promise<void> => {
    const entries = await instance.tables(tx).find<Entry>('entry', { customer: 'ada' })
    if (sum(entries) < credits) throw new NotEnoughError()
    await allHaveRead()
    await instance.tables(tx).insert('entry', { id: callId, customer: 'ada', credits: -credits })
  }
  const payOnce = async (tx: unknown): Promise<string> => {
    // The customer's row stands for all of the entries, also for those that are yet to come.
    await instance.locks.rows(tx, { table: 'customer', key: { id: 'ada' } })
    const { isFirst } = await instance.locks.once(tx, ['spend', callId], pay)
    return isFirst ? 'paid' : 'paid already'
  }
  try {
    if (!story.withoutLock) return await instance.locks.transaction(payOnce)
    await instance.unlocked(pay)
    return 'paid'
  } catch (error) {
    // Thrown, so that what was noted under the call's id is rolled back as well.
    if (error instanceof NotEnoughError) return 'not enough credits'
    throw error
  }
}

const allHaveRead = story.meeting(2)
const results = await Promise.all(['call-1', 'call-2'].map((call) => spend(call, 6, allHaveRead)))
console.log(`ada, who has 10 credits, spends 6 twice at once: ${results.toSorted().join(', ')}`)
if (!story.withoutLock) {
  const paid = results.indexOf('paid') + 1
  console.log(`the call that paid is made again: ${await spend(`call-${paid}`, 6, allHaveRead)}`)
}
console.log(`ada has ${sum(await tables().find<Entry>('entry', { customer: 'ada' }))} credits`)
