import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

import { inWords } from '../../../src/core/in-words.ts'
import { createLeases } from '../../../src/entries/etcd.ts'
import { lineOf, type Entry } from './log.ts'

/*
 * A process that wants a lease again and again, until it is killed: `contender.ts <endpoints> <key> <ttlMs> <log>`.
 *
 * What it writes is in the file before it goes on, so that nothing of it is lost with the process.
 */
const [endpoints = '', key = '', ttl = '', file = ''] = process.argv.slice(2)
const ttlMs = Number(ttl)
const log = openSync(file, 'a')
const write = (entry: Entry): void => void writeSync(log, lineOf(entry))
const now = (): number => Number(process.hrtime.bigint()) / 1e6

process.on('disconnect', () => process.exit())

const leases = createLeases({ endpoints: endpoints.split(',') })

/** Mostly for a moment, and sometimes for so long that the lease has to be renewed. */
function holdingMs(): number {
  return Math.random() < 0.2 ? ttlMs * (1 + Math.random()) : Math.random() * 200
}

async function hold(): Promise<void> {
  const lease = await leases.lease(key, { ttlMs })
  const { fence } = lease
  const end = now() + holdingMs()
  while (now() < end && !lease.signal.aborted) {
    // the clock is read first: a process that is stopped in between promises too little, and never too much
    const at = now()
    write({ by: process.pid, fence, at, until: at + lease.remainingMs() })
    await pause(Math.random() * 40)
  }
  write({ by: process.pid, fence, endedAt: now() })
  await lease.release()
}

for (;;) {
  try {
    await hold()
  } catch (error) {
    write({ by: process.pid, failed: inWords(error) })
    await pause(100)
  }
}
