import { Worker } from 'node:worker_threads'

/** How often it is seen that this process runs. */
const everyMs = 250
/** No timer is for longer than 24 days. */
const longestMs = 60_000

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

let read: (() => number) | undefined

function start(): () => number {
  const ran = new Int32Array(new SharedArrayBuffer(8))
  const counted = (): number => Atomics.load(ran, 0)
  try {
    const thread = new Worker(clock, { eval: true, workerData: ran, env: {}, execArgv: [] })
    thread.once('error', () => (read = wallFrom(counted()))).unref()
    return counted
  } catch {
    // Node's permissions may allow no threads
    return wallFrom(0)
  }
}

/** No clock that knows of standstills, but one that goes: a law has to end. */
function wallFrom(countedMs: number): () => number {
  const began = performance.now()
  return () => countedMs + Math.round(performance.now() - began)
}

/**
 * A clock that stands still while the process does, in steps of a quarter of a second. No law is broken by a machine that
 * was suspended, or had no time for any of us: what the clock on the wall shows then is not what the database took.
 *
 * Where there can be no thread for it, it is the clock on the wall.
 */
export function awakeMs(): number {
  read ??= start()
  return read()
}

/** Whether the process has stood still for a second since this was called: then some answers came too late, and rightly. */
export function watchStandstill(): () => boolean {
  const [wall, awake] = [performance.now(), awakeMs()]
  return () => performance.now() - wall - (awakeMs() - awake) > 1000
}

/** As `AbortSignal.timeout`, by {@link awakeMs}: what time is left when the process has stood still is left to it. */
export function awakeTimeout(timeoutMs: number): AbortSignal {
  const over = new AbortController()
  const deadline = awakeMs() + timeoutMs
  const look = (): void => {
    const leftMs = deadline - awakeMs()
    if (leftMs <= 0) over.abort(new DOMException(`not within ${timeoutMs} ms`, 'TimeoutError'))
    else setTimeout(look, Math.min(Math.max(leftMs, everyMs), longestMs)).unref()
  }
  look()
  return over.signal
}
