/*
 * Three workers send the mails of a queue, and one of them dies in the middle.
 *
 * Without claims two workers would send the same mail. With claims that never end, the mails of a worker that died
 * would never be sent; with claims that carry no token, a worker that only seemed dead would end another's job.
 */
import { LockLostError, type Job } from 'holdfast'
// Every entry has it, and it is the same in all of them.
import { queue } from 'holdfast/better-sqlite3'

import { openStory } from './story/story.ts'

const jobs = queue({
  table: 'job',
  id: 'id',
  orderBy: 'id',
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', attempts: 'attempts' },
  done: { set: { state: 'done' } },
})

await using story = await openStory({
  shows: 'Workers share a queue: no mail is sent twice, and those of a worker that died are sent by others.',
})
const [ada, bob, cleo] = [await story.connect(), await story.connect(), await story.connect()]
await ada.tables().create('job', {
  id: 'integer',
  state: 'text',
  claim_token: 'text',
  claimed_until: 'bigint',
  attempts: 'integer',
})
await ada.tables().create('mail', { id: 'text', job: 'integer' })
const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9]
for (const id of ids)
  await ada
    .tables()
    .insert('job', { id, state: 'ready', claim_token: null, claimed_until: null, attempts: 0 })

if (story.withoutLock) await sendWithoutClaims()
else await sendWithClaims()

async function sendWithClaims(): Promise<void> {
  /** The mail and the end of the job are stored together, or neither is. */
  const send = ({ locks, tables }: typeof bob, job: Job): Promise<void> =>
    locks.transaction(async (tx) => {
      await tables(tx).insert('mail', { id: `mail ${Number(job.id)}`, job: Number(job.id) })
      await job.complete({ tx })
    })

  for (const job of await bob.locks.claim(jobs)) {
    await send(bob, job)
    console.log(`bob claims job ${Number(job.id)} and does it`)
  }

  // She does nothing more with them: that is all that others see of a worker that died.
  const lost = await ada.locks.claim(jobs, { limit: 2, visibilityMs: 500 })
  console.log(`ada claims jobs ${lost.map(({ id }) => Number(id)).join(' and ')}, and dies`)

  // A loop of claims, which gets those two as well when their time is over.
  let left = ids.length - 1
  const stop = new AbortController()
  const work = async (node: typeof bob): Promise<void> => {
    const handle = async (job: Job): Promise<void> => {
      await send(node, job)
      left -= 1
      if (left === 0) stop.abort()
    }
    await node.locks.work(jobs, handle, { signal: stop.signal, idleMs: 100 })
  }
  await Promise.all([work(bob), work(cleo)])

  console.log(`bob and cleo do the rest: ${await mailsSent()}`)
  const again = await bob.tables().find<{ id: number }>('job', { attempts: 2 })
  console.log(`claimed twice: ${again.map(({ id }) => id).join(' ')}`)
  const ended = await lost[0]?.complete().catch((error: unknown) => error)
  console.log(`ada comes back: ${ended instanceof LockLostError ? 'her claim is lost' : 'it is still hers'}`)
}

async function sendWithoutClaims(): Promise<void> {
  const bothHaveRead = story.meeting(2)
  const sendFirst = ({ unlocked, tables }: typeof bob, name: string): Promise<number | undefined> =>
    unlocked(async (tx) => {
      const [first] = await tables(tx).find<{ id: number }>('job', { state: 'ready' })
      await bothHaveRead()
      if (first === undefined) return undefined
      await tables(tx).insert('mail', { id: `mail ${first.id} by ${name}`, job: first.id })
      await tables(tx).update('job', first.id, { state: 'done' })
      return first.id
    })
  const [first, second] = await Promise.all([sendFirst(bob, 'bob'), sendFirst(cleo, 'cleo')])
  console.log(`bob does job ${first}, cleo does job ${second}: ${await mailsSent()}`)
}

async function mailsSent(): Promise<string> {
  const mails = await bob.tables().find<{ job: number }>('mail')
  return `mails ${mails.map(({ job }) => job).join(' ')}`
}
