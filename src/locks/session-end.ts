import { released, type Session } from '../core/session.ts'
import { inGrace } from './limit.ts'

/** How a session ends: given back as clean as it came, or destroyed because nobody knows what it still holds. */
export interface SessionEnd {
  readonly doubt: (why: unknown) => void
  readonly isInDoubt: () => boolean
  /**
   * Never rejects: what became of the work is known by then, and is what the caller has to hear. At once, if it can, and
   * in bounded time. A second call waits for the first.
   */
  readonly end: () => Promise<void> | undefined
}

export function sessionEnd(session: Session): SessionEnd {
  let reason: Error | undefined
  let ended: Promise<void> | undefined
  let isOver = false
  return {
    doubt: (why) => {
      reason ??= why instanceof Error ? why : new Error(String(why))
    },
    isInDoubt: () => reason !== undefined,
    end: () => {
      if (isOver) return ended
      isOver = true
      try {
        const ending = reason === undefined ? session.release() : session.destroy(reason)
        ended = ending === released ? undefined : inGrace(ending).catch(warn)
      } catch (error) {
        // a driver that refuses at once, as `pg` does when the work has given the connection back itself
        warn(error)
      }
      return ended
    },
  }
}

function warn(error: unknown): void {
  process.emitWarning(`a connection could not be given back: ${String(error)}`, 'HoldfastWarning')
}
