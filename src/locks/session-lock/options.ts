import { checkSignal, onlyKnown, oneOf } from '../../core/check-field.ts'
import { checkRequest } from '../../core/check-request.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { AdvisoryRequest, LockMode, Wait } from '../../core/request.ts'

/** How a lock is taken that is held until it is released. */
export interface AcquireOptions {
  /** It outlives transactions: there is no other scope here. @default 'session' */
  readonly scope?: 'session'
  /** `shared` holders exclude only those who want `exclusive`. @default 'exclusive' */
  readonly mode?: LockMode
  /** What to do while another caller holds the lock. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Ends the wait; the call rejects with the signal's reason. It does not end what is held. */
  readonly signal?: AbortSignal
  /** Refuse a stronger or emulated lock too. @default false */
  readonly exact?: boolean
}

export type SessionRequest = AdvisoryRequest & Required<Pick<AdvisoryRequest, 'mode' | 'wait'>>

/** Checks a call at the door; the mistake is a {@link LockUsageError} that names the field. */
export function checkAcquire(key: LockKey, options: AcquireOptions): SessionRequest {
  const { scope = 'session', signal, ...asked } = options
  onlyKnown(asked, ['mode', 'wait', 'exact'])
  oneOf('scope', scope, ['session'])
  checkSignal(signal)
  const ask = checkRequest('advisory', { ...asked, key, scope })
  if (ask.category !== 'advisory') throw new Error('an advisory request stays one')
  const { mode, wait, exact } = ask.request
  return { key, scope, mode, wait, exact }
}

export interface SessionLockLimits {
  /** A few times as many fill the lock table of a PostgreSQL server, and then everybody else's queries fail. */
  readonly maxLocks: number
  readonly locksPerConnection: number
  /** How often a connection that holds locks is asked whether it is alive, and how long it may take to answer. */
  readonly heartbeatMs: number
  /** How long a connection to start with is waited for, when the call has no timeout. */
  readonly patienceMs: number
  /** After how long somebody is warned who waits for a lock that this process holds. */
  readonly warnAfterMs: number
  readonly releaseWithinMs: number
}

export const usualLimits: SessionLockLimits = {
  maxLocks: 5000,
  locksPerConnection: 1000,
  heartbeatMs: 10_000,
  patienceMs: 30_000,
  warnAfterMs: 10_000,
  releaseWithinMs: 5000,
}
