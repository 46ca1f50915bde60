import type { SessionSeen } from '../../core/inspection.ts'
import type { Look, Point } from './look.ts'

/** How far back the graph goes. */
export const historyMs = 600_000

/** The points of the last ten minutes, the oldest first. */
export interface History {
  readonly add: (point: Point) => void
  readonly all: () => readonly Point[]
}

export function createHistory(): History {
  let points: readonly Point[] = []
  return {
    add: (point) => {
      points = [...points.filter(({ at }) => at > point.at - historyMs && at < point.at), point]
    },
    all: () => points,
  }
}

/** What the graph keeps of a look. */
export function pointOf({ sessions, leases, queues }: Look, at: number): Point {
  const waiting = sessions.filter(({ waits }) => waits !== undefined)
  const rates = queues.flatMap(({ claimsPerSecond }) => claimsPerSecond ?? [])
  return {
    at,
    waiting: waiting.length,
    holding: sessions.filter(({ holds }) => holds.length > 0).length,
    longestWaitMs: longestWaitMs(waiting),
    leases: leases.length,
    ...(rates.length === 0 ? {} : { claimsPerSecond: rates.reduce((sum, rate) => sum + rate, 0) }),
  }
}

function longestWaitMs(waiting: readonly SessionSeen[]): number {
  return waiting.reduce((most, { waits }) => Math.max(most, waits?.waitedMs ?? 0), 0)
}
