import { asError, inWords } from '../core/in-words.ts'
import { released, type Session } from '../core/session.ts'
import { inGrace } from './limit.ts'

/** How a session ends: given back as clean as it came, or destroyed because nobody knows what it still holds. */
export interface SessionEnd {
  readonly doubt: (why: unknown) => void
  readonly isInDoubt: () => boolean
  /** Ends it at once, as one in doubt. */
  readonly giveUp: (why: unknown) => void
  /**
   * Never rejects: what became of the work is known by then, and is what the caller has to hear. At once, if it can, and
   * in bounded time. A second call waits for the first.
   */
  readonly end: () => Promise<void> | undefined
}

export function sessionEnd(session: Pick<Session, 'release' | 'destroy'>): SessionEnd {
  let reason: Error | undefined
  let ended: Promise<void> | undefined
  let isOver = false
  const doubt = (why: unknown): void => {
    reason ??= asError(why)
  }
  const end = (): Promise<void> | undefined => {
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
  }
  return {
    doubt,
    isInDoubt: () => reason !== undefined,
    end,
    giveUp: (why) => {
      doubt(why)
      void end()
    },
  }
}

function warn(error: unknown): void {
  process.emitWarning(`a connection could not be given back: ${inWords(error)}`, 'HoldfastWarning')
}
