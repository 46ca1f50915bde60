import { performance } from '../../core/clock.ts'
import { backoffMs } from '../../core/backoff.ts'
import { pause } from '../../core/deadline.ts'
import { isRetryable } from '../../core/error-kind.ts'
import type { LeaseHeld } from '../../dialects/lease.ts'
import { callLease, isAnswered } from './call.ts'
import { untilAborted, type Abortable } from '../abort.ts'
import type { LeasePort } from '../port.ts'

export interface ReleaseTerms {
  readonly held: LeaseHeld
  /** When another may have it, on the monotonic clock. */
  readonly freeAt: number
  /** What those are told who wait for it. */
  readonly news: string
  /** When nobody waits for the answer any longer. */
  readonly signal: Abortable
}

/** Ends a lease. Says whether it was still the holder's; that it was not is no error. */
export async function releaseLease(port: LeasePort, terms: ReleaseTerms): Promise<boolean> {
  const { held, freeAt, news, signal } = terms
  const holdMs = (): number => Math.max(0, Math.ceil(freeAt - performance.now()))
  for (let failed = 1; ; failed += 1) {
    const reply = await callLease(port, {
      statements: ({ release }) => release(held, holdMs(), news),
      signal,
    })
    if (isAnswered(reply)) return reply.answer === 'released'
    if (!isRetryable(reply.kind) && reply.kind !== 'connection-lost') throw reply.error
    await untilAborted(pause(backoffMs(failed, { capMs: 200 })), signal, () => {})
  }
}
