import { asError } from '../../core/in-words.ts'
import { inDueTime } from '../in-due-time.ts'
import type { Line } from './holder-line.ts'

/** Any server that has connections to hold locks understands it. */
const cheapest = { sql: 'SELECT 1', params: [] }

/**
 * Asks something cheap every so often, and calls `fail` when for the same time again nothing at all is answered.
 *
 * It finds connections of which only one end is left, and it keeps others from being closed for doing nothing. Does
 * not keep the process alive. Gives what stops it.
 */
export function startHeartbeat(line: Line, everyMs: number, fail: (why: Error) => void): () => void {
  let isAsking = false
  const beat = async (): Promise<void> => {
    isAsking = true
    const stop = onSilence(line, everyMs, () =>
      fail(new Error(`the connection gave no answer for ${everyMs} ms`)),
    )
    try {
      // an administrator may have cancelled the statement and not the connection: then the second one is answered
      await line.run(cheapest).catch(() => line.run(cheapest))
    } catch (error) {
      fail(asError(error))
    } finally {
      stop()
      isAsking = false
    }
  }
  const timer = setInterval(() => void (isAsking || beat()), everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** The question may stand behind a thousand others: whoever answers those is alive. Gives what stops it. */
function onSilence(line: Line, ms: number, silent: () => void): () => void {
  let stop: (() => void) | undefined
  const listen = (): void => {
    const before = line.answers()
    stop = inDueTime(ms, () => (line.answers() === before ? silent() : listen()))
  }
  listen()
  return () => stop?.()
}
