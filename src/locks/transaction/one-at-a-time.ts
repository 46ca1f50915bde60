import type { OpenTransaction } from '../port.ts'

/**
 * Runs `step` when every lock call of the transaction that came before has ended.
 *
 * Two at once would save each other's settings as the old ones, and one that rolls back to its savepoint would give up
 * what the other was granted. The connection sends one statement at a time anyway.
 */
export function oneAtATime<T>(open: OpenTransaction<unknown>, step: () => Promise<T>): Promise<T> {
  const before = open.locking
  const locking = before === undefined ? step() : before.then(step, step)
  const end = (): void => {
    if (open.locking === locking) open.locking = undefined
  }
  open.locking = locking
  locking.then(end, end)
  return locking
}
