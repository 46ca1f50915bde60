import { clearTimeout, setTimeout } from '../core/clock.ts'
import { LockTimeoutError } from '../core/errors.ts'
import type { Deadline } from '../core/deadline.ts'
import type { Abortable } from './abort.ts'
import { mustNotWaitForItself } from './transaction/scope.ts'

/** The waiters of each lane, the one whose turn it is first. A lane without any is not there. */
export type Lanes = Map<string, (() => void)[]>

const lanesOfThisProcess: Lanes = new Map()

/**
 * Waits for this caller's turn in a lane, in the order of asking. Gives what ends the turn.
 *
 * Only one transaction at a time can write to an SQLite database: those of one process would otherwise wake each
 * other up and starve the unlucky. Leaves the line when the signal aborts or the time is over. Refuses whoever has the
 * turn already: it would wait for itself.
 */
export async function takeTurn(
  lane: string,
  { deadline, signal }: { deadline: Deadline; signal: Abortable | undefined },
  lanes: Lanes = lanesOfThisProcess,
): Promise<() => void> {
  signal?.throwIfAborted()
  mustNotWaitForItself(lane)
  const line = lanes.get(lane) ?? []
  if (line.length > 0 && deadline.isPast()) throw tooLate()
  lanes.set(lane, line)
  const leave = (waiter: () => void): void => {
    const place = line.indexOf(waiter)
    if (place < 0) return // ended before: the lane may have a line of others by now
    line.splice(place, 1)
    if (line.length === 0) lanes.delete(lane)
    else if (place === 0) line[0]?.()
  }
  return new Promise((resolve, reject) => {
    // In a new round of the event loop: a driver that never waits would otherwise run the whole line in one round.
    const waiter = (): void => {
      setImmediate(() => {
        stopWaiting()
        resolve(() => leave(waiter))
      })
    }
    const giveUp = (why: Error): void => {
      stopWaiting()
      leave(waiter)
      reject(why)
    }
    const onAbort = (): void => giveUp(signal?.reason as Error)
    const timer = line.length === 0 ? undefined : whenPast(deadline, () => giveUp(tooLate()))
    const stopWaiting = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    line.push(waiter)
    if (line[0] === waiter) waiter()
  })
}

/** This caller's turn in a lane, if nobody stands there. Gives what ends it. */
export function takeFreeTurn(lane: string, lanes: Lanes = lanesOfThisProcess): (() => void) | undefined {
  if (lanes.has(lane)) return undefined
  const line = [nobodyWaits]
  lanes.set(lane, line)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    line.shift()
    if (line.length === 0) lanes.delete(lane)
    else line[0]?.()
  }
}

function nobodyWaits(): void {}

/** How many stand in a lane, the one whose turn it is included. */
export function lengthOfLine(lane: string, lanes: Lanes = lanesOfThisProcess): number {
  return lanes.get(lane)?.length ?? 0
}

function whenPast(deadline: Deadline, late: () => void): NodeJS.Timeout | undefined {
  const remainingMs = deadline.remainingMs()
  // Node cuts a time to whole milliseconds, and its clock too: a timer would fire a little too early
  return Number.isFinite(remainingMs) ? setTimeout(late, Math.ceil(remainingMs) + 1) : undefined
}

function tooLate(): LockTimeoutError {
  return new LockTimeoutError('locked by others of this process for too long')
}
