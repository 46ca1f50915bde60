import { clearTimeout, setTimeout } from '../core/clock.ts'

/** So long an answer has once the process runs again: it is on its way then, and may be followed by another. */
const answerMs = 1000

/** How often it is looked whether the process stands still, within that time of the end. */
const lookMs = 250

/** A timer that is late by more than this says that the process stood still, and maybe the machine with all that is on it. */
const standstillMs = 100

/** Not the library's own clock: a test that moves that one has not stood still. */
const realNow = (): number => globalThis.performance.now()

/**
 * Calls `late` after `ms`, unless it is stopped. Answers that have arrived by then are read first: a program that was
 * busy for longer than `ms` would otherwise take itself for a server that does not answer. One that stood still at the end
 * gets a second more, once, however little it was late.
 */
export function inDueTime(ms: number, late: () => void, keepsAlive = true): () => void {
  let timer: NodeJS.Timeout | undefined
  let reading: NodeJS.Immediate | undefined
  let left = ms
  let awakeForMs = answerMs
  let isLast = false
  const wait = (): void => {
    const stepMs = left > answerMs ? left - answerMs : Math.min(left, lookMs)
    const due = realNow() + stepMs
    timer = setTimeout(() => {
      const lateMs = Math.max(0, realNow() - due)
      left -= stepMs + lateMs
      awakeForMs = lateMs > standstillMs ? 0 : awakeForMs + stepMs
      if (left > 0) wait()
      else if (awakeForMs >= answerMs || isLast) reading = setImmediate(late)
      else {
        isLast = true
        left = answerMs - awakeForMs
        wait()
      }
    }, stepMs)
    if (!keepsAlive) timer.unref()
  }
  wait()
  return () => {
    clearTimeout(timer)
    clearImmediate(reading)
  }
}
