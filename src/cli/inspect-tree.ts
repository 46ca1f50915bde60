import type { SessionSeen } from '../core/inspection.ts'

/** A session, and below it those that wait for it. */
export interface Branch {
  readonly session: SessionSeen
  /**
   * `whole`: here it is shown with all that waits for it. `again`: it waits for several, and is shown whole elsewhere.
   * `circle`: it stands above itself, so that all between wait for one another.
   */
  readonly shown: 'whole' | 'again' | 'circle'
  readonly waiters: readonly Branch[]
  /** The ids of those it waits for that were not seen themselves. */
  readonly strangers: readonly string[]
}

/**
 * Sessions below those they wait for. At the top are those who wait for nobody that is seen, and one of each circle.
 *
 * Each session is shown whole once, so the tree is no larger than what was seen.
 */
export function treeOf(sessions: readonly SessionSeen[]): readonly Branch[] {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const waitersOf = new Map<string, SessionSeen[]>()
  for (const session of sessions) {
    for (const id of new Set(session.waits?.blockedBy)) {
      waitersOf.set(id, [...(waitersOf.get(id) ?? []), session])
    }
  }
  const whole = new Set<string>()
  const grow = (session: SessionSeen, above: readonly string[]): Branch => {
    const { id, waits } = session
    const strangers = waits?.blockedBy.filter((blocker) => !byId.has(blocker)) ?? []
    const leaf = { session, strangers, waiters: [] }
    if (above.includes(id)) return { ...leaf, shown: 'circle' }
    if (whole.has(id)) return { ...leaf, shown: 'again' }
    whole.add(id)
    const path = [...above, id]
    return { ...leaf, shown: 'whole', waiters: (waitersOf.get(id) ?? []).map((one) => grow(one, path)) }
  }
  const isTop = ({ waits }: SessionSeen): boolean => waits?.blockedBy.some((id) => byId.has(id)) !== true
  const tops = sessions.filter(isTop).map((session) => grow(session, []))
  // what hangs below no top waits in a circle, or for one
  const circles = sessions.flatMap((session) =>
    whole.has(session.id) ? [] : [grow(inCircle(session, byId), [])],
  )
  return [...tops, ...circles]
}

/** Who is met twice on the way from somebody to whom he waits for, and so on. */
function inCircle(start: SessionSeen, byId: ReadonlyMap<string, SessionSeen>): SessionSeen {
  const met = new Set<SessionSeen>()
  for (let now = start; ;) {
    if (met.has(now)) return now
    met.add(now)
    now = now.waits?.blockedBy.map((id) => byId.get(id)).find((one) => one !== undefined) ?? now
  }
}
