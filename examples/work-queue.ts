/*
 * Three workers send the mails of a queue, and one of them dies in the middle.
 *
 * Without claims two workers would send the same mail. With claims that never end, the mails of a worker that died
 * would never be sent; with claims that carry no token, a worker that only seemed dead would end another's job.
 */
import { LockLostError, type Job } from 'holdfast'
// Every entry has it, and it is the same in all of them.
import { queue } from 'holdfast/better-sqlite3'

import { openDatabase } from './databases/open.ts'

const jobs = queue({
  table: 'job',
  id: 'id',
  orderBy: 'id',
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', attempts: 'attempts' },
  done: { set: { state: 'done' } },
})

await using database = await openDatabase()
const [ada, bob, cleo] = [await database.connect(), await database.connect(), await database.connect()]
await ada.queryAlone(
  'CREATE TABLE job (id INTEGER PRIMARY KEY, state VARCHAR(10) NOT NULL, claim_token VARCHAR(36), ' +
    'claimed_until BIGINT, attempts INTEGER NOT NULL)',
)
await ada.queryAlone('CREATE TABLE mail (job INTEGER PRIMARY KEY)')
const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9]
await ada.queryAlone(
  `INSERT INTO job (id, state, attempts) VALUES ${ids.map((id) => `(${id}, 'ready', 0)`).join(', ')}`,
)

/** The mail and the end of the job are stored together, or neither is. */
const send = ({ locks, query }: typeof bob, job: Job): Promise<void> =>
  locks.transaction(async (tx) => {
    await query(tx, 'INSERT INTO mail VALUES (?)', [Number(job.id)])
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

const numbers = async (sql: string): Promise<string> =>
  (await bob.queryAlone(sql)).map(({ id }) => Number(id)).join(' ')
console.log(`bob and cleo do the rest: mails ${await numbers('SELECT job AS id FROM mail ORDER BY job')}`)
console.log(`claimed twice: ${await numbers('SELECT id FROM job WHERE attempts = 2 ORDER BY id')}`)
const ended = await lost[0]?.complete().catch((error: unknown) => error)
console.log(`ada comes back: ${ended instanceof LockLostError ? 'her claim is lost' : 'it is still hers'}`)
