import { graceMs } from '../../core/grace.ts'
import type { Wait } from '../../core/request.ts'
import { within } from '../limit.ts'
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

/**
 * What `lock` gives, unless a server that was told when to stop waiting does not answer by then: the session is in
 * doubt after that, since the lock may be granted later.
 */
export function lockInTime<T>(
  { doubt }: OpenTransaction<unknown>,
  wait: Wait | undefined,
  lock: () => Promise<T>,
): Promise<T> {
  return inTimeOf(wait, lock(), doubt)
}

/** What `work` gives, unless a server that does not answer makes it longer than a wait with a limit may be. */
export function inTimeOf<T>(
  wait: Wait | undefined,
  work: Promise<T>,
  giveUp: (why: unknown) => void = () => {},
): Promise<T> {
  return typeof wait === 'object' ? within({ ms: wait.timeoutMs + graceMs }, work, giveUp) : work
}
