import { onlyKnown, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Wait } from '../../core/request.ts'
import { checkLeaseOptions } from '../lease/options.ts'

/** What a semaphore is. Every process that uses it is to say the same. */
export interface SemaphoreOptions {
  /**
   * How many may hold a permit at a time: from 1 to 1000. A function is asked whenever a permit is looked for, so that
   * the number can change while the program runs.
   */
  readonly permits: number | (() => number)
  /** How long the server keeps a permit for a holder of whom it hears nothing. From 100 up. @default 30_000 */
  readonly ttlMs?: number
  /** Confirm a permit again and again for as long as it is held. @default true */
  readonly renew?: boolean
  /**
   * How long a slot is kept from others after it was granted, also when it is released sooner: so many permits are then
   * granted in that time at most. A holder that dies is not waited for: then its permit ends by its `ttlMs`.
   *
   * @default 0
   */
  readonly holdAtLeastMs?: number
}

/** How one permit is waited for. */
export interface PermitOptions {
  /** What to do while there is none. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Ends the wait. Once the permit is granted, it has a signal of its own. */
  readonly signal?: AbortSignal
}

/** Each of them is a row, and a name in the statement that looks for a free one. */
const mostPermits = 1000

/** Checks what a semaphore is made with; the mistake is a {@link LockUsageError} that names the field. */
export function checkSemaphore(options: SemaphoreOptions): void {
  onlyKnown(options, ['permits', 'ttlMs', 'renew', 'holdAtLeastMs'])
  const { permits, ...terms } = options
  checkLeaseOptions(terms)
  checkPermits(permits)
}

/** How many there are now. */
export function checkPermits(permits: SemaphoreOptions['permits']): number {
  const count = typeof permits === 'function' ? permits() : permits
  if (Number.isInteger(count) && count >= 1 && count <= mostPermits) return count
  throw new LockUsageError('permits', `${show(count)} is not a whole number from 1 to ${mostPermits}`)
}
