import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

import { warmUp, ways, type Way } from '../leases/ways.ts'

/*
 * A process in which many wait for one lock: `waiter.ts <url> <way> <name> <how many> <connections> <cycles to warm up>`.
 * Told `hold`, it takes the lock; `wait`: everybody asks for it, which is answered with the heap that they take; `go`: the
 * holder gives it back, which is answered when everybody has had it, with the moments at which they were granted it.
 */

const [url = '', way = '', name = '', count = '', connections = '', cycles = ''] = process.argv.slice(2)
const contender = ways[way as Way](url, Number(connections))
await warmUp(contender, Number(cycles))

let release = async (): Promise<void> => {}
let waiters: Promise<number>[] = []

async function waitOnce(): Promise<number> {
  const end = await contender.take(name)
  const grantedAt = performance.timeOrigin + performance.now()
  await end()
  return grantedAt
}

function heapUsed(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const steps: Readonly<Record<string, () => Promise<unknown>>> = {
  hold: async () => {
    release = await contender.take(name)
  },
  wait: async () => {
    const before = heapUsed()
    waiters = Array.from({ length: Number(count) }, waitOnce)
    await delay(500) // the first of them have asked the server by then
    return heapUsed() - before
  },
  go: async () => {
    await release()
    return Promise.all(waiters)
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await steps[line]?.()
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`)
}
await contender.close()
