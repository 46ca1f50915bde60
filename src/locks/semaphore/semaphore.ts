import { checkWork, onlyKnown } from '../../core/check-field.ts'
import { LockNotAvailableError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { chosenLeaseName } from '../../core/lease-name.ts'
import { asItIs } from '../../core/on-demand.ts'
import type { Lease, Leases } from '../lease/lease.ts'
import { knownKeys } from '../named/known-keys.ts'
import * as seldom from '../seldom.ts'
import { checkSemaphore, type PermitOptions, type SemaphoreOptions } from './options.ts'

/** One of the permits of a semaphore: a lease on one of its slots. */
export interface Permit extends Lease {
  /** From 0 up; no two valid permits of a semaphore have the same. The fence counts the holders of this slot. */
  readonly slot: number
}

/** Lets so many in at a time, over all processes that share the database. */
export interface Semaphore {
  /**
   * Waits for a permit, behind all who wait already.
   *
   * Rejects with {@link LockTimeoutError} or, with `wait: 'nowait'`, {@link LockNotAvailableError} when there is none,
   * and with the signal's reason when that aborts.
   */
  readonly acquire: (options?: PermitOptions) => Promise<Permit>
  /**
   * A permit, or null when none is free or others wait for one.
   *
   * Rejects with {@link LockNotAvailableError} when the database was too busy to tell.
   */
  readonly tryAcquire: (options?: Pick<PermitOptions, 'signal'>) => Promise<Permit | null>
  /**
   * Waits for a permit, runs `work`, and releases the permit however the work ends.
   *
   * If the permit is lost meanwhile, the call still resolves: check `permit.signal`, or call `permit.throwIfLost()`.
   */
  readonly withPermit: <T>(work: (permit: Permit) => Promise<T>, options?: PermitOptions) => Promise<T>
}

/** Semaphores of these leases. What they do is loaded when the first permit is asked for. */
export function createSemaphores(leases: Leases): (key: LockKey, options: SemaphoreOptions) => Semaphore {
  return (key, asked) => {
    const options = asItIs(asked)
    const name = chosenLeaseName(key)
    checkSemaphore(options)
    const acquire: Semaphore['acquire'] = async (how = {}) => {
      onlyKnown(how, ['wait', 'signal'])
      knownKeys.remember(key)
      const request = { key, name, options: { ...options, ...asItIs(how) } }
      return seldom.permits(({ takePermit }) => takePermit(leases, request))
    }
    return {
      acquire,
      tryAcquire: async (how = {}) => {
        onlyKnown(how, ['signal'])
        try {
          return await acquire({ ...how, wait: 'nowait' })
        } catch (error) {
          // with a cause nobody knows whether one is free
          if (error instanceof LockNotAvailableError && error.cause === undefined) return null
          throw error
        }
      },
      withPermit: async (work, how) => {
        checkWork(work, 'work', 'async (permit) => { ... }')
        const permit = await acquire(how)
        try {
          return await work(permit)
        } finally {
          await permit[Symbol.asyncDispose]()
        }
      },
    }
  }
}
