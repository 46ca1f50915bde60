import type { Deadline } from '../../core/deadline.ts'
import { LockUsageError, type LockNotAvailableError, type LockTimeoutError } from '../../core/errors.ts'
import { graceMs } from '../../core/grace.ts'
import type { Plan } from '../../core/plan.ts'
import type { Holder } from './holder.ts'
import type { LockName } from './holder-names.ts'
import type { HolderSet } from './holder-set.ts'
import type { LimitTerms } from '../limit.ts'
import { noConnection } from '../open-session.ts'
import type { AskServer } from '../port.ts'
import { askedOn, notAvailable, notInTime, type Asked } from '../refused.ts'
import type { SessionRequest } from './options.ts'

/** What somebody wants, and until when. */
export interface Ask {
  readonly request: SessionRequest
  readonly name: LockName
  /** As people call it. */
  readonly label: string
  readonly server: AskServer
  /** When, on the monotonic clock. */
  readonly began: number
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

export function askedOf({ label, began, server, request: { key, mode, wait } }: Ask): Asked {
  return askedOn({ server }, { label, key, mode, wait, began })
}

export function busy(ask: Ask): LockNotAvailableError {
  return notAvailable(askedOf(ask))
}

export function timedOut(ask: Ask, cause?: unknown): LockTimeoutError {
  return notInTime(askedOf(ask), cause)
}

/** The pool gave nothing, and why that may be. */
export function outOfConnections({ holders }: Ground, ask: Ask, patienceMs: number): Error {
  const { locks, holding, waiting } = holders.census()
  const text =
    `${noConnection(`for the ${ask.label}`, Math.round(patienceMs))}: ${locks} session locks of this process hold ` +
    `${holding} connections, on ${waiting} more a lock is waited for, and the rest is in use elsewhere. ` +
    'Give the pool more connections, or give them back sooner'
  const error = new LockUsageError('pool', text)
  return typeof ask.request.wait === 'object' ? timedOut(ask, error) : error
}
