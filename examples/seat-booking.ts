/*
 * Two people want the same seat. While one of them is paying, the other is told so at once, and chooses another seat.
 *
 * A lock that waits would be right as well, but it would let the second stare at the screen until the first has paid,
 * only to say no. Without the lock both find the seat free, and there are two tickets for it.
 */
import { LockNotAvailableError, LockTimeoutError } from 'holdfast'

import { createGate } from './story/meeting.ts'
import { openStory } from './story/story.ts'

await using story = await openStory({
  shows: 'While a seat is being paid for, others learn at once that it is taken: a row lock with NOWAIT.',
})
const { locks, tables, unlocked } = await story.connect()
await tables().create('seat', { id: 'text', holder: 'text' })
await tables().create('ticket', { id: 'text', seat: 'text' })
for (const id of ['A1', 'A2']) await tables().insert('seat', { id, holder: null })

interface Seat {
  readonly holder: string | null
}

interface Wish {
  readonly seat: string
  readonly holder: string
  /** What happens before the ticket is printed. */
  readonly pay: () => Promise<unknown>
}

async function book({ seat, holder, pay }: Wish): Promise<string> {
  const finish = async (tx: unknown, [found]: readonly Seat[]): Promise<string> => {
    if (found?.holder !== null) return 'taken'
    await pay()
    await tables(tx).update('seat', seat, { holder })
    await tables(tx).insert('ticket', { id: `${seat} for ${holder}`, seat })
    return 'booked'
  }
  if (story.withoutLock)
    return unlocked(async (tx) => finish(tx, await tables(tx).find<Seat>('seat', { id: seat })))
  const lockSeat = async (tx: unknown): Promise<string> =>
    finish(tx, await locks.rows<Seat>(tx, { table: 'seat', key: { id: seat } }, { wait: 'nowait' }))
  try {
    // On SQLite it is the transaction's BEGIN that takes the lock, so there a short limit stands for NOWAIT.
    return await locks.transaction(lockSeat, { lockTimeoutMs: 50 })
  } catch (error) {
    if (error instanceof LockNotAvailableError || error instanceof LockTimeoutError) return 'busy'
    throw error
  }
}

if (story.withoutLock) {
  const pay = story.meeting(2)
  const both = ['ada', 'bob'].map((holder) => book({ seat: 'A1', holder, pay }))
  console.log(`ada and bob want A1 at once: ${(await Promise.all(both)).join(', ')}`)
} else {
  const pay = async (): Promise<void> => {}
  const [adaPays, bobKnows] = [createGate(), createGate()]
  const payLong = async (): Promise<void> => {
    adaPays.open()
    await bobKnows.isOpen
  }
  const ada = book({ seat: 'A1', holder: 'ada', pay: payLong })
  await adaPays.isOpen
  console.log(`bob wants A1 while ada pays for it: ${await book({ seat: 'A1', holder: 'bob', pay })}`)
  bobKnows.open()
  console.log(`ada: ${await ada}`)
  console.log(`bob wants A1 afterwards: ${await book({ seat: 'A1', holder: 'bob', pay })}`)
  console.log(`bob wants A2: ${await book({ seat: 'A2', holder: 'bob', pay })}`)
}
const tickets = await tables().find<{ seat: string }>('ticket')
for (const id of ['A1', 'A2'])
  console.log(`tickets for ${id}: ${tickets.filter(({ seat }) => seat === id).length}`)
