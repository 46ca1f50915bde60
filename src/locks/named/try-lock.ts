import { checkObject, checkWork } from '../../core/check-field.ts'
import { LockNotAvailableError, LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { LockInTransaction } from './held-lock.ts'
import type { WithLockOptions } from './lock-options.ts'

/** Work that runs in a transaction under a lock. */
export type LockedWork<Tx, T> = (tx: Tx, held: LockInTransaction) => Promise<T>

/** What became of work that is not to wait for its lock: what it gave, or nothing, because another holds the lock. */
export type Tried<T> = { readonly acquired: true; readonly value: T } | { readonly acquired: false }

interface TryCall<Tx, T> {
  readonly key: LockKey
  readonly work: LockedWork<Tx, T>
  readonly options: Omit<WithLockOptions, 'wait'> | undefined
}

/** Runs the work under its lock, or says that another has it. What the work itself is refused is its own error. */
export async function tryWith<Tx, T>(
  withLock: (key: LockKey, work: LockedWork<Tx, T>, options: WithLockOptions) => Promise<T>,
  { key, work, options }: TryCall<Tx, T>,
): Promise<Tried<T>> {
  if (options !== undefined) checkObject('options', options)
  if (options !== undefined && 'wait' in options)
    throw new LockUsageError('wait', 'tryLock never waits: use withLock')
  checkWork(work)
  let isAtWork = false
  const noted: LockedWork<Tx, T> = (tx, held) => {
    isAtWork = true
    return work(tx, held)
  }
  try {
    return { acquired: true, value: await withLock(key, noted, { ...options, wait: 'nowait' }) }
  } catch (error) {
    if (!isAtWork && error instanceof LockNotAvailableError) return { acquired: false }
    throw error
  }
}
