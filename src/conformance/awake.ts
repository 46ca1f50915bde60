import { Worker } from 'node:worker_threads'

/** How often it is seen that this process runs. */
const everyMs = 250

/** In a thread of its own: a driver that blocks the event loop stops no time, and its waits are to be counted. */
const clock = `
const { workerData: ran } = require('node:worker_threads')
let seenAt = performance.now() // the process may have stood still before: nobody knows how long the thread took to start
for (;;) {
  Atomics.wait(ran, 1, 0, ${everyMs})
  const now = performance.now()
  Atomics.add(ran, 0, Math.round(Math.min(now - seenAt, ${2 * everyMs})))
  seenAt = now
}`

let ran: Int32Array | undefined

function start(): Int32Array {
  const shared = new Int32Array(new SharedArrayBuffer(8))
  new Worker(clock, { eval: true, workerData: shared, env: {}, execArgv: [] }).unref()
  return shared
}

/**
 * A clock that stands still while the process does, in steps of a quarter of a second. No law is broken by a machine that
 * was suspended, or had no time for any of us: what the clock on the wall shows then is not what the database took.
 */
export function awakeMs(): number {
  ran ??= start()
  return Atomics.load(ran, 0)
}

/** Whether the process has stood still for a second since this was called: then some answers came too late, and rightly. */
export function watchStandstill(): () => boolean {
  const [wall, awake] = [performance.now(), awakeMs()]
  return () => performance.now() - wall - (awakeMs() - awake) > 1000
}
