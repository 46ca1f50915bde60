import { LockNotAvailableError, LockTimeoutError } from '../../core/errors.ts'
import { readFailure } from '../failure.ts'
import { limitTo } from '../limit.ts'
import type { Ground } from './ground.ts'

/** What came of asking for a lock. `endless`: it was still waited for when the time was over. */
export type Attempt<T> =
  | { readonly outcome: 'granted'; readonly value: T; readonly tookMs: number }
  | { readonly outcome: 'not-available' | 'timed-out'; readonly tookMs: number }
  | { readonly outcome: 'endless'; readonly tookMs: number }
  | { readonly outcome: 'failed'; readonly error: unknown; readonly tookMs: number }

/** How long somebody waits who should not, before it is told. */
const endlessMs = 2500
/** How long a lock is held for others to try, at most: four of them, and some time for itself. */
export const holdMs: number = 5 * endlessMs

/** Asks for a lock, and says what came of it. Rejects only when the caller aborts or the connection is lost. */
export async function attempt<T, Tx>(
  { server, signal }: Pick<Ground<Tx>, 'server' | 'signal'>,
  ask: (signal: AbortSignal) => Promise<T>,
  ms: number = endlessMs,
): Promise<Attempt<T>> {
  signal?.throwIfAborted()
  const limit = limitTo({ ms, signal })
  const tooLong = new AbortController()
  limit.signal.addEventListener('abort', () => tooLong.abort(limit.signal.reason))
  const began = performance.now()
  const tookMs = (): number => performance.now() - began
  try {
    return { outcome: 'granted', value: await ask(tooLong.signal), tookMs: tookMs() }
  } catch (error) {
    signal?.throwIfAborted()
    if (limit.signal.aborted) return { outcome: 'endless', tookMs: tookMs() }
    if (error instanceof LockNotAvailableError) return { outcome: 'not-available', tookMs: tookMs() }
    if (error instanceof LockTimeoutError) return { outcome: 'timed-out', tookMs: tookMs() }
    throwIfLost(error, server)
    return { outcome: 'failed', error, tookMs: tookMs() }
  } finally {
    limit.end()
  }
}

/** Whether another was kept out, in whichever way. */
export function isKeptOut({ outcome }: Attempt<unknown>): boolean {
  return outcome === 'not-available' || outcome === 'timed-out' || outcome === 'endless'
}

/** A server that is gone is not one that cannot lock. */
export function throwIfLost(error: unknown, { dialect }: Ground<unknown>['server']): void {
  const { kind } = readFailure(error, dialect)
  if (kind === 'connection-lost' || kind === 'commit-unknown') throw error
}
