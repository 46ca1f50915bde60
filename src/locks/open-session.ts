import { clearTimeout, setTimeout } from '../core/clock.ts'
import { LockTimeoutError, LockUsageError } from '../core/errors.ts'
import type { Session, Sessions } from '../core/session.ts'
import type { Abortable } from './abort.ts'
import { warn } from './handle.ts'
import { inDueTime } from './in-due-time.ts'
import { waitsForItself } from './transaction/scope.ts'

/** How long something that may never come is waited for. */
export interface Patience {
  readonly signal?: Abortable | undefined
  /** @default for ever */
  readonly patienceMs?: number | undefined
}

export interface OpeningLimits extends Patience {
  /** What the connection is wanted for, as in `for a session lock`. */
  readonly purpose: string
  /** Whether the patience is a limit that the caller has set, so that its end is a timeout. @default false */
  readonly isTimed?: boolean
}

/** Where connections come from, as far as somebody needs to know who takes one. */
type Opener<S> = Pick<Sessions, 'isOneConnection' | 'lane'> & { readonly open: () => Promise<S> }

/**
 * Takes a connection, unless the signal aborts or the patience ends first. A pool whose connections are all lent says
 * nothing at all, so whoever waits has to say it.
 *
 * A session that arrives after the caller has given up goes straight back.
 */
export function openSession<S extends Pick<Session, 'release'>>(
  { sessions }: { readonly sessions: Opener<S> },
  { purpose, signal, patienceMs, isTimed = false }: OpeningLimits,
): Promise<S> {
  const refusal = sessions.isOneConnection === true ? waitsForItself(sessions.lane?.()) : undefined
  if (refusal !== undefined) return Promise.reject(refusal)
  const opening = sessions.open()
  const giveBack = async (): Promise<void> => (await opening).release()
  return patiently(opening, {
    signal,
    patienceMs,
    purpose,
    tooLate: () => {
      const error = new NoConnectionError(purpose, patienceMs)
      return isTimed ? asTimeout(error) : error
    },
    leave: () => void giveBack().catch(() => {}),
  })
}

/** Every connection of the pool is lent, and none came back in time: often to whoever makes this very call. */
export class NoConnectionError extends LockUsageError {
  constructor(purpose: string, patienceMs: number | undefined) {
    super('pool', `${noConnection(purpose, patienceMs)}: all are in use, perhaps by the caller itself`)
  }
}

/** To somebody who waits for a lock at most so long, a connection that does not come is a lock that does not. */
export function asTimeout<E>(error: E): E | LockTimeoutError {
  return error instanceof NoConnectionError ? new LockTimeoutError(error.message, { cause: error }) : error
}

/** In words: nobody gave a connection back in time. */
export function noConnection(purpose: string, patienceMs: number | undefined): string {
  return `no connection became free in ${Math.ceil(patienceMs ?? 0)} ms ${purpose}`
}

/** After how long somebody is warned who waits for a connection: it may be one that the caller itself keeps. */
const warnAfterMs = 10_000

function warnOfPool(purpose: string): void {
  warn(
    `the pool has given no connection for ${warnAfterMs / 1000} s ${purpose}: all of them are in use. A chain of calls ` +
      'that keeps one, by acquire or in a transaction, and waits for another waits for itself when the pool is small',
  )
}

/** What ends a wait for a connection. */
export interface WaitForConnection extends OpeningLimits {
  readonly tooLate: () => Error
  readonly leave: () => void
}

/** What `work` gives. Otherwise `leave` runs, and `tooLate` or the signal's reason is thrown. */
export function patiently<T>(
  work: Promise<T>,
  { signal, patienceMs = Infinity, purpose, tooLate, leave }: WaitForConnection,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let disarm: (() => void) | undefined
    let warning: NodeJS.Timeout | undefined
    const stop = (): void => {
      clearImmediate(arming)
      disarm?.()
      clearTimeout(warning)
      signal?.removeEventListener('abort', onAbort)
    }
    const giveUp = (why: Error): void => {
      stop()
      leave()
      reject(why)
    }
    const onAbort = (): void => giveUp(signal?.reason as Error)
    const arm = (): void => {
      disarm = inDueTime(patienceMs, () => giveUp(tooLate()))
      if (patienceMs > warnAfterMs) warning = setTimeout(() => warnOfPool(purpose), warnAfterMs).unref()
    }
    // what is there in this round of the event loop, as most connections are, needs no timer
    const arming = Number.isFinite(patienceMs) ? setImmediate(arm) : undefined
    work.then((result) => {
      stop()
      resolve(result)
    }, giveUp)
    if (signal?.aborted === true) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}
