import {
  checkDuration,
  checkPeriod,
  checkSignal,
  onlyKnown,
  waitWithoutSkip,
  show,
} from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Wait } from '../../core/request.ts'

/** How a lease is taken and kept. */
export interface LeaseOptions {
  /** How long the server keeps it for a holder of whom it hears nothing. From 100 up. @default 30_000 */
  readonly ttlMs?: number
  /** What to do while another caller holds the lock. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Ends the wait. Once the lease is granted, it has a signal of its own. */
  readonly signal?: AbortSignal
  /** Confirm it again and again for as long as it is held. @default true */
  readonly renew?: boolean
  /**
   * How long nobody else gets it after it was granted, also when it is released sooner. A holder that dies is not
   * waited for: then the lease ends by its `ttlMs`.
   *
   * @default 0
   */
  readonly holdAtLeastMs?: number
}

export interface CheckedLeaseOptions extends Required<Omit<LeaseOptions, 'signal'>> {
  readonly signal: AbortSignal | undefined
}

/** A shorter lease would be lost by one slow answer or one long turn of the event loop. */
const minTtlMs = 100

const known = ['ttlMs', 'wait', 'signal', 'renew', 'holdAtLeastMs']

/** Checks the options at the door; the mistake is a {@link LockUsageError} that names the field. */
export function checkLeaseOptions(options: LeaseOptions | CheckedLeaseOptions): CheckedLeaseOptions {
  onlyKnown(options, known)
  const { ttlMs = 30_000, wait, signal, renew = true, holdAtLeastMs = 0 } = options
  if (typeof renew !== 'boolean') throw new LockUsageError('renew', `${show(renew)} is not true or false`)
  checkSignal(signal)
  return {
    ttlMs: checkTtl(ttlMs),
    wait: waitWithoutSkip(wait),
    signal,
    renew,
    holdAtLeastMs: holdAtLeastMs === 0 ? 0 : checkPeriod('holdAtLeastMs', holdAtLeastMs),
  }
}

export function checkTtl(ttlMs: number): number {
  const checked = checkDuration('ttlMs', ttlMs)
  if (checked < minTtlMs)
    throw new LockUsageError('ttlMs', `${ttlMs} is too short to be renewed in time: from ${minTtlMs} up`)
  return checked
}
