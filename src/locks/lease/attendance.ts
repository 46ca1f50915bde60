import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import type { Deadline } from '../../core/deadline.ts'
import type { LeaseNews } from '../../dialects/lease.ts'
import { listenTo, type Ear } from './ear.ts'
import { graceMs, type Line } from './line.ts'
import { newsText, type News } from './news.ts'

/** One who waits for a lease. */
export interface Attendance {
  /** Whether a release is heard of. */
  readonly isTold: () => boolean
  /** Whether others are known to be in front, who are to ask before. */
  readonly isBehind: () => boolean
  /** The lease is asked for next. Gives what others are to be told with the request; undefined where nobody hears. */
  readonly expect: () => LeaseNews | undefined
  /** It was found held. */
  readonly foundHeld: () => void
  /** It is held here. */
  readonly took: () => void
  /** Begins to listen, where that can be had. Says whether it has begun just now: a release before went unheard. */
  readonly listen: (topic: string | undefined, patienceMs: number) => Promise<boolean>
  /** Sleeps until it is time to ask. Rejects with the signal's reason when it aborts. */
  readonly sleep: (rest: Rest) => Promise<void>
  readonly leave: () => void
}

export interface Rest {
  /** How long to hear nothing at all before asking again. Whoever stands further behind waits longer. */
  readonly quietMs: number
  /** When the lease ends by itself unless it is renewed, where that is known. */
  readonly leftMs?: number | undefined
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
}

/** The waiting for one lease, and what is known of others who do. */
export interface Room {
  readonly line: Line
  readonly waiters: Set<Waiter>
  closing?: NodeJS.Timeout
}

export interface Place {
  readonly ear: Ear
  readonly me: string
  readonly name: string
  readonly leave: () => void
}

export function attendanceIn(room: Room, { ear, me, name, leave }: Place): Attendance {
  const { line, waiters } = room
  const began = performance.now()
  const isKnown = (): boolean => !ear.isOpen() || line.since() !== undefined || !line.hasOthers()
  const waiter = createWaiter(line, isKnown)
  let askedAt = -Infinity
  waiters.add(waiter)
  const waits = (): News => ({
    kind: 'waits',
    member: me,
    name,
    forMs: performance.now() - (line.since() ?? began),
  })
  return {
    sleep: waiter.sleep,
    isTold: ear.isOpen,
    isBehind: () => ear.isOpen() && line.since() !== undefined && line.turnAt() > performance.now(),
    expect: () => {
      askedAt = performance.now()
      waiter.expect()
      if (!ear.isOpen()) return undefined
      const granted = newsText({ kind: 'took', member: me, name })
      // whoever is not heard of yet finds out by asking
      return { busy: newsText(waits()), ...(line.hasOthers() && { granted }) }
    },
    foundHeld: () => line.foundHeld(askedAt),
    took: () => line.hear({ kind: 'took', member: me, name }),
    listen: (topic, patienceMs) => listenTo(ear, topic, patienceMs),
    leave: () => {
      waiters.delete(waiter)
      leave()
    },
  }
}

export interface Waiter extends Pick<Attendance, 'sleep'> {
  readonly hear: (news: News) => void
  /** What was heard until now counts no longer. */
  readonly expect: () => void
}

/** However busy a lease is, whoever waits for it asks as often: others may not know of it. */
const longestMs = 2000

/** `isKnown`: the others, if any, have it in their lines, as far as can be told by its own. */
function createWaiter(line: Line, isKnown: () => boolean): Waiter {
  let heardAt = -Infinity
  let isDue = false
  let look: (() => void) | undefined
  return {
    hear: ({ kind }) => {
      const now = performance.now()
      isDue ||= line.turnAt() <= now
      if (kind !== 'waits') heardAt = now // who waits changes nothing for whoever holds it
      look?.()
    },
    expect: () => void (isDue = false),
    sleep: async ({ quietMs, leftMs = Infinity, deadline, signal }) => {
      const began = performance.now()
      const remainingMs = (): number => {
        const place = line.place()
        const restMs = quietMs * (1 + place)
        // the end of a lease that was heard of since is not known
        const quietUntil =
          heardAt > began ? heardAt + restMs : began + Math.min(restMs, leftMs + place * graceMs)
        const unknownUntil = began + (isKnown() ? longestMs : graceMs)
        const dueMs = Math.min(quietUntil, unknownUntil, line.turnAt()) - performance.now()
        return isDue ? 0 : Math.min(dueMs, deadline.remainingMs())
      }
      for (let ms = remainingMs(); ms > 0; ms = remainingMs()) {
        signal?.throwIfAborted()
        await new Promise<void>((resolve) => {
          const goOn = (): void => {
            clearTimeout(timer)
            signal?.removeEventListener('abort', goOn)
            resolve()
          }
          const timer = setTimeout(goOn, Math.ceil(ms))
          signal?.addEventListener('abort', goOn, { once: true })
          look = goOn
        })
      }
      signal?.throwIfAborted()
    },
  }
}
