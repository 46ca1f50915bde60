import type { LeaseSeen, LockSeen, SessionSeen } from '../../../core/inspection.ts'
import type { Branch } from '../../inspect-tree.ts'

/** What the page is asked to show. Both are parts of texts; case does not count. */
export interface Wanted {
  /** In anything that is known of a session or a lease. */
  readonly search: string
  /** In what is locked. */
  readonly key: string
}

function isEmpty({ search, key }: Wanted): boolean {
  return search.trim() === '' && key.trim() === ''
}

function has(texts: readonly (string | undefined)[], part: string): boolean {
  const wanted = part.trim().toLowerCase()
  return wanted === '' || texts.some((text) => text !== undefined && text.toLowerCase().includes(wanted))
}

/** Whether a lock is on what is asked for. */
function isOnKey({ key, on }: LockSeen, wanted: string): boolean {
  return has([key, on], wanted)
}

function isWantedSession(session: SessionSeen, { search, key }: Wanted): boolean {
  const { id, application, user, statement, holds, waits } = session
  const locks = waits === undefined ? holds : [waits.lock, ...holds]
  return (
    (key.trim() === '' || locks.some((lock) => isOnKey(lock, key))) &&
    (has([id, application, user, statement], search) ||
      locks.some(({ key: name, on }) => has([name, on], search)))
  )
}

export function isWantedLease({ key, name, owner }: LeaseSeen, wanted: Wanted): boolean {
  return has([key, name], wanted.key) && has([key, name, owner], wanted.search)
}

/** The branches on which something is wanted: those who wait below, and all above whom they wait for. */
export function pruned(branches: readonly Branch[], wanted: Wanted): readonly Branch[] {
  if (isEmpty(wanted)) return branches
  return branches.flatMap((branch) => {
    const waiters = pruned(branch.waiters, wanted)
    return waiters.length > 0 || isWantedSession(branch.session, wanted) ? [{ ...branch, waiters }] : []
  })
}
