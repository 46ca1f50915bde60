import { delay, performance } from './clock.ts'
import { LockUsageError } from './errors.ts'

/** A point in time that a wait must not pass. Measured on the monotonic clock: changing the wall clock moves nothing. */
export interface Deadline {
  /** Milliseconds left; never below zero, `Infinity` when there is no end. */
  readonly remainingMs: () => number
  readonly isPast: () => boolean
}

export function deadlineIn(
  timeoutMs: number = Infinity,
  now: () => number = () => performance.now(),
): Deadline {
  if (Number.isNaN(timeoutMs) || timeoutMs < 0) {
    throw new LockUsageError('timeoutMs', `${timeoutMs} is not a number of milliseconds`)
  }
  if (timeoutMs === Infinity) return endless
  const end = now() + timeoutMs
  const remainingMs = (): number => Math.max(0, end - now())
  return { remainingMs, isPast: () => remainingMs() === 0 }
}

const endless: Deadline = { remainingMs: () => Infinity, isPast: () => false }

/** A timer of Node's that is to run for longer ends at once. */
const longestTimerMs = 2_147_483_647

/** Sleeps without blocking the event loop, not past the deadline. Rejects with the signal's reason when it aborts. */
export async function pause(
  ms: number,
  deadline: Deadline = deadlineIn(),
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted()
  let leftMs = Math.min(ms, deadline.remainingMs())
  try {
    do {
      await delay(Math.min(leftMs, longestTimerMs), undefined, { signal })
      leftMs -= longestTimerMs
    } while (leftMs > 0)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
