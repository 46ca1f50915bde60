/*
 * Three workers send the mails of a queue, and one of them dies in the middle.
 *
 * Without claims two workers would send the same mail. With claims that never end, the mails of a worker that died
 * would never be sent; with claims that carry no token, a worker that only seemed dead would end another's job.
 */
import { LockLostError, type Job } from 'holdfast'
import { queue } from 'holdfast/mongodb'

import { openMongodb } from '../databases/mongodb.ts'

const jobs = queue({
  table: 'job',
  id: '_id',
  orderBy: '_id',
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', attempts: 'attempts' },
  done: { set: { state: 'done' } },
})

await using database = await openMongodb()
const [ada, bob, cleo] = [await database.connect(), await database.connect(), await database.connect()]
const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9]
const free = { state: 'ready', claim_token: null, claimed_until: null, attempts: 0 }
const stored = ada.db.collection<{ _id: number; attempts: number }>('job')
await stored.insertMany(ids.map((_id) => ({ _id, ...free })))
const mails = await ada.db.createCollection<{ _id: number }>('mail')

/** The mail and the end of the job are stored together, or neither is. */
const send = ({ locks }: typeof bob, job: Job): Promise<void> =>
  locks.transaction(async (tx) => {
    await tx.db
      .collection<{ _id: number }>('mail')
      .insertOne({ _id: Number(job.id) }, { session: tx.session })
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

const numbers = (found: readonly { _id: number }[]): string => found.map(({ _id }) => _id).join(' ')
const byId = { sort: { _id: 1 } } as const
console.log(`bob and cleo do the rest: mails ${numbers(await mails.find({}, byId).toArray())}`)
console.log(`claimed twice: ${numbers(await stored.find({ attempts: 2 }, byId).toArray())}`)
const ended = await lost[0]?.complete().catch((error: unknown) => error)
console.log(`ada comes back: ${ended instanceof LockLostError ? 'her claim is lost' : 'it is still hers'}`)
