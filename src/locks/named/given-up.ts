import { LockUsageError } from '../../core/errors.ts'
import type { SavepointWatch } from '../../core/session.ts'
import type { OpenTransaction } from '../port.ts'

/** The savepoints of a transaction, where a return to one gives up locks: from now on those are forgotten with it. */
export function watchReturns(open: OpenTransaction<unknown>): SavepointWatch | undefined {
  const savepoints = open.session.witness?.savepoints
  if (savepoints !== undefined) savepoints.onReturn ??= (since) => giveUp(open, since)
  return savepoints
}

function giveUp(open: OpenTransaction<unknown>, since: number): void {
  for (const [id, lock] of open.joined ?? []) {
    if (lock.at < since) continue
    open.joined?.delete(id)
    open.named.delete(id)
    open.unsure ??= new Set()
    open.unsure.add(id)
    lock.isGivenUp = true
    for (const tell of lock.tell) tell()
  }
}

/** Notes a lock that the next return to a savepoint from before it gives up. */
export function noteJoined(open: OpenTransaction<unknown>, id: string, { now }: SavepointWatch): void {
  open.joined ??= new Map()
  open.joined.set(id, { at: now, isGivenUp: false, tell: [] })
  open.unsure?.delete(id)
}

/** A lock that may be the transaction's own still cannot be had by anybody else in its chain of calls. */
export function unlessUnsure(open: OpenTransaction<unknown> | undefined, id: string): void {
  if (open?.unsure?.has(id) !== true) return
  throw new LockUsageError(
    'key',
    'the transaction was rolled back to a savepoint, and may have released this lock: take it again with locks.lock(tx, key)',
  )
}
