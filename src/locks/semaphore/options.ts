import { onlyKnown, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import { checkLeaseOptions, type LeaseOptions } from '../lease/options.ts'

/** What a semaphore is. Every process that uses it is to say the same. */
export interface SemaphoreOptions extends Pick<LeaseOptions, 'ttlMs' | 'renew' | 'holdAtLeastMs'> {
  /**
   * How many may hold a permit at a time: from 1 to 1000. A function is asked whenever a permit is looked for, so that
   * the number can change while the program runs.
   */
  readonly permits: number | (() => number)
}

/** How one permit is waited for. */
export type PermitOptions = Pick<LeaseOptions, 'wait' | 'signal'>

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
