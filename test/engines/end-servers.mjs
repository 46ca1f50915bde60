// Ends what a test run left behind. Started by reaper.ts; its standard input is a pipe from the run, which says what
// the run has started. The pipe's end means that the run is gone, whatever killed it.
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

import { marked, signal, startTime, withDescendants } from './process-table.mjs'

/** What was started and not yet ended, by its mark. */
const charges = new Map()

// A Ctrl-C in the terminal reaches every process of the run; this one must outlive it.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {})

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.ended) charges.delete(message.mark)
  else charges.set(message.mark, { ...charges.get(message.mark), ...message })
}
await Promise.all([...charges.values()].map(end))

function living(charge) {
  // A pid may have been given to someone else meanwhile: only one that started when ours did is ours.
  const isOurs = charge.pid !== undefined && startTime(charge.pid) === charge.startTime
  // The mark finds a server of which the run had no time to say the pid, and children that left the tree.
  return [...new Set([...(isOurs ? withDescendants(charge.pid) : []), ...marked(charge.mark)])].filter(
    (pid) => pid !== process.pid && startTime(pid) !== undefined,
  )
}

async function end(charge) {
  const pids = living(charge)
  signal(pids, 'SIGCONT') // a frozen process would keep the polite signal for later
  signal(pids.slice(0, 1), charge.stopSignal ?? 'SIGTERM')
  const deadline = Date.now() + 5_000
  while (living(charge).length > 0 && Date.now() < deadline) await pause(50)
  signal(living(charge), 'SIGKILL')
  while (living(charge).length > 0 && Date.now() < deadline + 5_000) await pause(20)
  if (charge.folder !== undefined) rmSync(charge.folder, { recursive: true, force: true, maxRetries: 5 })
}
