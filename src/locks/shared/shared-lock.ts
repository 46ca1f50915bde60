import { checkWork, onlyKnown, oneOf } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { chosenLeaseName } from '../../core/lease-name.ts'
import type { LockMode, Wait } from '../../core/request.ts'
import type { Lease, Leases } from '../lease/lease.ts'
import { checkLeaseOptions } from '../lease/options.ts'
import { knownKeys } from '../named/known-keys.ts'

/** What a shared lock is. */
export interface SharedLockOptions {
  /** How long the server keeps it for a holder of whom it hears nothing. From 1000 up. @default 30_000 */
  readonly ttlMs?: number
}

/** How a shared lock is taken. */
export interface SharedLockAsked {
  /** Alone, or together with others who share it. @default 'exclusive' */
  readonly mode?: LockMode
  /** What to do while it is not to be had. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Ends the wait. Once the lock is granted, it has a signal of its own. */
  readonly signal?: AbortSignal
}

/** A lock that many can share, or one can have alone: readers and a writer. Each holder has a lease, which is renewed. */
export interface SharedLock {
  /**
   * Waits for the lock, behind all who wait already: who wants it alone is not passed by those who share it.
   *
   * Rejects with {@link LockTimeoutError} or, with `wait: 'nowait'`, {@link LockNotAvailableError} while it is not to be
   * had, and with the signal's reason when that aborts.
   */
  readonly acquire: (options?: SharedLockAsked) => Promise<Lease>
  /**
   * Waits for the lock, runs `work`, and releases the lock however the work ends.
   *
   * If the lock is lost meanwhile, the call still resolves: check `lease.signal`, or call `lease.throwIfLost()`.
   */
  readonly withLock: <T>(work: (lease: Lease) => Promise<T>, options?: SharedLockAsked) => Promise<T>
}

/** To come in takes several requests: a shorter one would be over by then. */
const minTtlMs = 1000

function checkTtl(options: SharedLockOptions): void {
  const { ttlMs } = checkLeaseOptions(options)
  if (ttlMs < minTtlMs)
    throw new LockUsageError('ttlMs', `${ttlMs} is too short to come in: from ${minTtlMs} up`)
}

/** Shared locks of these leases. What they do is loaded when the first is asked for. */
export function createSharedLocks(leases: Leases): (key: LockKey, options?: SharedLockOptions) => SharedLock {
  return (key, options = {}) => {
    const name = chosenLeaseName(key)
    onlyKnown(options, ['ttlMs'])
    checkTtl(options)
    const acquire: SharedLock['acquire'] = async (asked = {}) => {
      onlyKnown(asked, ['mode', 'wait', 'signal'])
      const { mode = 'exclusive', ...waiting } = asked
      oneOf('mode', mode, ['exclusive', 'shared'])
      checkLeaseOptions({ ...options, ...waiting })
      knownKeys.remember(key)
      const { takeExclusive, takeShared } = await import('./take.ts')
      const take = mode === 'shared' ? takeShared : takeExclusive
      return take(leases, { key, name, options: { ...options, ...waiting } })
    }
    return {
      acquire,
      withLock: async (work, asked) => {
        checkWork(work, 'work', 'async (lease) => { ... }')
        const lease = await acquire(asked)
        try {
          return await work(lease)
        } finally {
          await lease[Symbol.asyncDispose]()
        }
      },
    }
  }
}
