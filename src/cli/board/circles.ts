import type { SessionSeen } from '../../core/inspection.ts'

/** Sessions that wait for one another, so that none of them can go on: each circle once, in the order of the waits. */
export function circlesIn(sessions: readonly SessionSeen[]): readonly (readonly SessionSeen[])[] {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const done = new Set<SessionSeen>()
  const path: SessionSeen[] = []
  const circles: (readonly SessionSeen[])[] = []
  const visit = (session: SessionSeen): void => {
    if (done.has(session)) return
    const place = path.indexOf(session)
    if (place >= 0) return void circles.push(path.slice(place))
    path.push(session)
    for (const id of session.waits?.blockedBy ?? []) {
      const blocker = byId.get(id)
      // one that waits for nobody is in no circle
      if (blocker?.waits !== undefined) visit(blocker)
    }
    path.pop()
    done.add(session)
  }
  for (const session of sessions) visit(session)
  return circles
}
