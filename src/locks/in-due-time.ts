import { clearTimeout, setTimeout } from '../core/clock.ts'

/**
 * A timer that is late by more than this says that the process stood still, and maybe the machine with all that is on it.
 * The answer is on its way then: it gets as long once more.
 */
const standstillMs = 1000

/** Not the library's own clock: a test that moves that one has not stood still. */
const realNow = (): number => globalThis.performance.now()

/**
 * Calls `late` after `ms`, unless it is stopped. Answers that have arrived by then are read first: a program that was
 * busy for longer than `ms` would otherwise take itself for a server that does not answer.
 */
export function inDueTime(ms: number, late: () => void, keepsAlive = true): () => void {
  let timer: NodeJS.Timeout | undefined
  let reading: NodeJS.Immediate | undefined
  const start = (left: number, isLast: boolean): void => {
    const due = realNow() + left
    timer = setTimeout(() => {
      if (!isLast && realNow() - due > standstillMs) start(standstillMs, true)
      else reading = setImmediate(late)
    }, left)
    if (!keepsAlive) timer.unref()
  }
  start(ms, false)
  return () => {
    clearTimeout(timer)
    clearImmediate(reading)
  }
}
