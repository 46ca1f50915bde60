import { asError } from '../../core/in-words.ts'
import { inDueTime } from '../handle.ts'
import type { Line } from './holder-line.ts'

/** Any server that has connections to hold locks understands it. */
const cheapest = { sql: 'SELECT 1', params: [] }

/**
 * Asks something cheap every so often, and calls `fail` when it is not answered in the same time again.
 *
 * It finds connections of which only one end is left, and it keeps others from being closed for doing nothing. Does
 * not keep the process alive. Gives what stops it.
 */
export function startHeartbeat(line: Line, everyMs: number, fail: (why: Error) => void): () => void {
  const beat = async (): Promise<void> => {
    const stop = inDueTime(everyMs, () => fail(new Error(`the connection gave no answer for ${everyMs} ms`)))
    try {
      // an administrator may have cancelled the statement and not the connection: then the second one is answered
      await line.run(cheapest).catch(() => line.run(cheapest))
    } catch (error) {
      fail(asError(error))
    } finally {
      stop()
    }
  }
  const timer = setInterval(() => void beat(), everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
