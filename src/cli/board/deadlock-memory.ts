import type { DeadlockedSession } from '../../core/deadlock.ts'
import type { SessionSeen } from '../../core/inspection.ts'
import type { LatestDeadlocks } from '../../locks/deadlocks/latest.ts'
import { circlesIn } from './circles.ts'
import type { DeadlockNote, DeadlocksSeen } from './look.ts'

/** So many are kept; older ones are forgotten. */
const most = 20

/** What the board knows of deadlocks: it outlives what the server itself remembers. */
export interface DeadlockMemory {
  /** Sessions of a look: those that wait in a circle are a deadlock that the server has not ended yet. */
  readonly see: (sessions: readonly SessionSeen[], now: Date) => void
  /** What the server remembers and has counted. */
  readonly hear: (latest: LatestDeadlocks, now: Date) => void
  readonly seen: () => DeadlocksSeen
}

export function createDeadlockMemory(): DeadlockMemory {
  let notes: readonly DeadlockNote[] = []
  let circling = new Set<string>()
  let counted: number | undefined
  let unseen: readonly string[] = []
  const keep = (more: readonly DeadlockNote[]): void => {
    notes = [...more, ...notes].slice(0, most)
  }
  return {
    see: (sessions, now) => {
      const circles = circlesIn(sessions).map((circle) => ({ circle, name: nameOf(circle) }))
      keep(
        circles
          .filter(({ name }) => !circling.has(name))
          .map(({ circle }) => noteOf(circle, now.toISOString())),
      )
      circling = new Set(circles.map(({ name }) => name))
    },
    hear: (latest, now) => {
      const told = latest.deadlocks.map(({ at, sessions }): DeadlockNote =>
        at === undefined ? { from: 'server', sessions } : { from: 'server', at, sessions },
      )
      keep(told.filter((note) => !notes.some((known) => isSame(known, note))))
      const more = Math.max(0, (latest.counted ?? 0) - (counted ?? latest.counted ?? 0))
      if (more > 0) keep([{ from: 'counted', at: now.toISOString(), count: more, sessions: [] }])
      counted = latest.counted
      unseen = latest.unseen
    },
    seen: () => ({ latest: notes, ...(counted === undefined ? {} : { counted }), unseen }),
  }
}

function nameOf(circle: readonly SessionSeen[]): string {
  return circle
    .map(({ id }) => id)
    .toSorted()
    .join(' ')
}

/** Who will be its victim is not decided when a circle is seen. */
function noteOf(circle: readonly SessionSeen[], at: string): DeadlockNote {
  const sessions = circle.map(({ state: _, transactionMs: __, ...session }): DeadlockedSession =>
    Object.assign(session, { isVictim: false }),
  )
  return { from: 'seen', at, sessions }
}

function isSame(one: DeadlockNote, other: DeadlockNote): boolean {
  return one.from === other.from && one.at === other.at && idsOf(one) === idsOf(other)
}

function idsOf({ sessions }: DeadlockNote): string {
  return sessions.map(({ id }) => id).join(' ')
}
