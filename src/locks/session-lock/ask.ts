import type { Deadline } from '../../core/deadline.ts'
import { LockNotAvailableError, LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import { graceMs } from '../../core/grace.ts'
import type { Plan } from '../../core/plan.ts'
import type { Holder } from './holder.ts'
import type { LockName } from './holder-names.ts'
import type { HolderSet } from './holder-set.ts'
import type { LimitTerms } from '../limit.ts'
import { noConnection } from '../open-session.ts'
import type { SessionRequest } from './options.ts'

/** What somebody wants, and until when. */
export interface Ask {
  readonly request: SessionRequest
  readonly name: LockName
  /** As people call it. */
  readonly label: string
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
  /** Told when the lock is lost that was granted. */
  readonly lose: (why: Error) => void
}

/** Where it is had from. */
export interface Ground {
  readonly holders: HolderSet
  /** The plan for a way to wait; only once a connection was there, which tells what the server is. */
  readonly planOf: (ask: Ask, wait: SessionRequest['wait']) => Plan
  /** A database error as the caller is to see it. */
  readonly meaningOf: (error: unknown) => unknown
  /** How long a connection is waited for by somebody who did not say. */
  readonly patienceMs: number
}

/** A connection, and the plan by which it was granted the lock. */
export interface Grant {
  readonly holder: Holder
  readonly plan: Plan
}

export function remainingWait({ request: { wait }, deadline }: Ask): SessionRequest['wait'] {
  return typeof wait === 'object' ? { timeoutMs: Math.max(1, Math.ceil(deadline.remainingMs())) } : wait
}

/**
 * Until when the server has to have answered: the wait that it was told is over by then. Where there is no limit, what
 * keeps the connection alive finds out that it is dead.
 */
export function answerLimit({ deadline, signal }: Ask): LimitTerms {
  return { signal, ms: deadline.remainingMs() + graceMs }
}

export function busy({ label }: Ask): LockNotAvailableError {
  return new LockNotAvailableError(`${label} is held by another`)
}

export function timedOut({ label, request: { wait } }: Ask, cause?: unknown): LockTimeoutError {
  const limitMs = typeof wait === 'object' ? wait.timeoutMs : undefined
  const during = limitMs === undefined ? "the server's own limit" : `${limitMs} ms`
  return new LockTimeoutError(`${label} did not come free in ${during}`, cause === undefined ? {} : { cause })
}

/** The pool gave nothing, and why that may be. */
export function outOfConnections({ holders }: Ground, { label, request }: Ask, patienceMs: number): Error {
  const { locks, holding, waiting } = holders.census()
  const text =
    `${noConnection(`for ${label}`, Math.round(patienceMs))}: ${locks} session locks of this process hold ` +
    `${holding} connections, on ${waiting} more a lock is waited for, and the rest is in use elsewhere. ` +
    'Give the pool more connections, or give them back sooner'
  return typeof request.wait === 'object' ? new LockTimeoutError(text) : new LockUsageError('pool', text)
}
