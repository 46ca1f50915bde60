import { queue } from '../../src/locks/queue/queue.ts'
import { openWorkshop } from './workshop.ts'

/*
 * A process that stores jobs: `storer.ts <engine> <url> <table> <id> <keys>`. Says `ready`, waits for a message, stores
 * a job for each key, every second one in a transaction, and says how many were stored and how many were there.
 */

export type FromStorer = 'ready' | readonly [stored: number, existing: number]

const [engine = '', url = '', table = '', id = '', keys = ''] = process.argv.slice(2)
const { claims, transaction, close } = await openWorkshop(engine, url)
const jobs = queue({
  table,
  id,
  orderBy: id,
  where: { state: 'ready' },
  claim: { token: 'token', until: 'until', unique: 'k' },
  done: 'delete',
})
const say = (message: FromStorer): void => void process.send?.(message)

process.once('message', async () => {
  const counts: [number, number] = [0, 0]
  for (let key = 0; key < Number(keys); key += 1) {
    const job = { k: `key ${key}` }
    const { stored, existing } = await (key % 2 === 0
      ? claims.enqueue(jobs, job)
      : transaction((tx) => claims.enqueue(jobs, job, { tx })))
    counts[0] += stored.length
    counts[1] += existing.length
  }
  say(counts)
  await close()
  process.disconnect()
})
process.once('disconnect', () => process.exit())
say('ready')
