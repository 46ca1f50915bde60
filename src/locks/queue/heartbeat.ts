import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import { LockLostError } from '../../core/errors.ts'

export interface Pulse {
  /** Moves the end of the claim; rejects with {@link LockLostError} when it is another's. */
  readonly extend: () => Promise<void>
  readonly visibilityMs: number
  /** When the claim was asked for, by the monotonic clock. */
  readonly sentAt: number
  readonly onLost: (why: LockLostError) => void
}

export interface Heartbeat {
  readonly stop: () => void
  /** Gives the claim up if its time is over: a process that stood still may come here before any timer of its. */
  readonly look: () => void
}

/**
 * Extends a claim three times as often as needed, until it is stopped.
 *
 * The time is counted from before a request is sent: whatever the server is doing, the claim is given up when it could
 * be over, also when no answer comes at all.
 */
export function heartbeat({ extend, visibilityMs, sentAt, onLost }: Pulse): Heartbeat {
  let isStopped = false
  let next: NodeJS.Timeout | undefined
  let end: NodeJS.Timeout | undefined
  let endsAt = Infinity
  const stop = (): void => {
    isStopped = true
    clearTimeout(next)
    clearTimeout(end)
  }
  const lose = (why: LockLostError): void => {
    if (isStopped) return
    stop()
    onLost(why)
  }
  const giveUp = (): void => lose(new LockLostError('the job could not be extended in time'))
  const endFrom = (sent: number): void => {
    clearTimeout(end)
    endsAt = sent + visibilityMs
    end = setTimeout(giveUp, endsAt - performance.now())
  }
  const beat = async (): Promise<void> => {
    const before = performance.now()
    try {
      await extend()
      if (!isStopped) endFrom(before)
    } catch (error) {
      if (error instanceof LockLostError) lose(error)
    }
    if (!isStopped) next = setTimeout(() => void beat(), visibilityMs / 3)
  }
  endFrom(sentAt)
  next = setTimeout(() => void beat(), visibilityMs / 3)
  return {
    stop,
    look: () => {
      if (performance.now() >= endsAt) giveUp()
    },
  }
}
