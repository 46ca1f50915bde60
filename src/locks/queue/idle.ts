import { clearTimeout, setTimeout } from '../../core/clock.ts'
import { backoffMs } from '../../core/backoff.ts'

/** The pauses of somebody who looks for work and finds none. */
export interface Idle {
  /** Pauses, longer each time in a row, unless it is woken. */
  readonly wait: () => Promise<void>
  /** Ends the pause, or the next one when there is none. */
  readonly wake: () => void
  /**
   * Ends the pause in a few milliseconds: what one hears, all others hear as well, and they should not all look at the
   * same moment, nor once for each of many messages.
   */
  readonly hear: () => void
  /** There was work: the next pause is a short one again. */
  readonly reset: () => void
}

export function createIdle(longestMs: number): Idle {
  let looks = 0
  let isAwake = false
  let end: (() => void) | undefined
  let hearing: NodeJS.Timeout | undefined
  const wake = (): void => {
    isAwake = true
    end?.()
  }
  return {
    wait: async () => {
      looks += 1
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, backoffMs(looks, { baseMs: 20, capMs: longestMs }))
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      end = undefined
      isAwake = false
    },
    wake,
    hear: () => {
      hearing ??= setTimeout(() => {
        hearing = undefined
        wake()
      }, backoffMs(1)).unref()
    },
    reset: () => {
      looks = 0
    },
  }
}
