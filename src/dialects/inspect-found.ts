import type { LockSeen, SessionSeen } from '../core/inspection.ts'
import type { Row } from '../core/statement.ts'
import { groupBy, sessionSeen, waitSeen } from './inspect-session.ts'

/** A lock of one session, wherever the server tells of it. */
export interface LockFound {
  /** What the server calls the session. */
  readonly session: string
  readonly lock: LockSeen
  /** The table whose rows it is about, where it is known. */
  readonly table?: string
  /** There when the session does not have the lock yet. */
  readonly wait?: { readonly blockedBy: readonly string[]; readonly waitedMs?: unknown }
}

/** The sessions that hold or wait for something. Locks of sessions that are not among the rows are left out. */
export function sessionsWith(
  rows: readonly Row[],
  found: readonly LockFound[],
  stateOf: (row: Row) => SessionSeen['state'],
): readonly SessionSeen[] {
  const bySession = groupBy(found, ({ session }) => session)
  return rows.flatMap((row) => {
    const own = bySession.get(String(row.id)) ?? []
    if (own.length === 0) return []
    const waiting = own.find(({ wait }) => wait !== undefined)
    const holds = own.filter(({ wait }) => wait === undefined).map(({ lock }) => lock)
    const { blockedBy = [], waitedMs = row.statement_ms } = waiting?.wait ?? {}
    return [
      sessionSeen(row, {
        state: stateOf(row),
        holds,
        waits: waiting && waitSeen(waiting.lock, waitedMs, blockedBy),
      }),
    ]
  })
}
