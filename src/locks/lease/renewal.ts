import { clearTimeout, delay, setTimeout } from '../../core/clock.ts'
import { backoffMs } from '../../core/backoff.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LeaseHeld } from '../../dialects/lease.ts'
import { callLease, isAnswered, patiently, type Reply } from './call.ts'
import { limitTo } from '../limit.ts'
import type { RenewalRounds } from './renewal-rounds.ts'
import type { Validity } from './validity.ts'
import type { LeasePort } from '../port.ts'

/** Keeps a lease confirmed. */
export interface Renewal {
  /** Confirms it now, for so long from now on. Rejects with {@link LockLostError} where that does not succeed in time. */
  readonly extend: (ttlMs: number | undefined) => Promise<void>
  /** Leaves what is under way, and begins nothing more. */
  readonly stop: () => void
}

export interface RenewalTerms {
  readonly port: LeasePort
  readonly rounds: RenewalRounds
  readonly held: LeaseHeld
  readonly validity: Validity
  readonly ttlMs: number
  /** Whether it is confirmed without being asked. */
  readonly isAutomatic: boolean
}

/** Which part of the lease's time goes by before it is confirmed again; one request may take as long. */
const part = 3

/** Nobody is told: an error of its own for each lease would cost more than its release. */
const isStopped = new Error('the lease is not renewed any longer')

export function createRenewal(terms: RenewalTerms): Renewal {
  const { validity } = terms
  // most leases are released before they are confirmed once
  let stopped: AbortController | undefined
  let ttlMs = terms.ttlMs
  let last: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  // One after another: of two that overtake each other nobody could tell which one counts.
  const confirm = (asked: Pick<Confirmation, 'askedMs' | 'keepsAlive'>): Promise<void> => {
    const { signal } = (stopped ??= new AbortController())
    const turn = last.then(() => confirmInTime(terms, { ...asked, stopped: signal }))
    last = turn.catch(() => {})
    return turn
  }
  const plan = (): void => {
    clearTimeout(timer)
    if (!terms.isAutomatic || validity.isOver()) return
    const renew = (): Promise<void> => confirm({ askedMs: ttlMs, keepsAlive: false }).then(plan)
    // A process that only holds a lease is not kept alive by it.
    const pauseMs = Math.min(ttlMs / part, validity.remainingMs() / 2)
    timer = setTimeout(() => void renew().catch(() => {}), pauseMs).unref()
  }
  plan()
  return {
    extend: async (askedMs = ttlMs) => {
      validity.throwIfLost()
      await confirm({ askedMs, keepsAlive: true })
      ttlMs = askedMs
      plan()
    },
    stop: () => {
      clearTimeout(timer)
      stopped?.abort(isStopped)
    },
  }
}

interface Confirmation {
  readonly askedMs: number
  readonly keepsAlive: boolean
  readonly stopped: AbortSignal
}

/** Repeats the request until the server has answered, or the lease is over. */
async function confirmInTime(terms: RenewalTerms, asked: Confirmation): Promise<void> {
  const { validity } = terms
  const { askedMs, keepsAlive, stopped } = asked
  for (let failed = 1; ; failed += 1) {
    validity.throwIfLost()
    const reply = await request(terms, asked)
    validity.note(isAnswered(reply) ? undefined : reply.error)
    // who asks inside of its own transaction is told so; a renewal that nobody waits for is repeated when that is over
    if (keepsAlive && !isAnswered(reply) && isRefused(reply.error)) throw reply.error
    if (!isAnswered(reply) && reply.mayBeDone) validity.doubt(askedMs)
    if (isAnswered(reply) && reply.answer === 'not-held') validity.lose()
    else if (isAnswered(reply) && reply.answer === 'granted') {
      validity.confirm(reply.sentAt, askedMs)
      return validity.throwIfLost()
    } else {
      const pauseMs = backoffMs(failed, { baseMs: 50, capMs: Math.min(1000, askedMs / 10) })
      await delay(pauseMs, undefined, { ref: keepsAlive, signal: stopped }).catch(() => {})
    }
  }
}

async function request(terms: RenewalTerms, asked: Confirmation): Promise<Reply> {
  const { port, held, validity, rounds } = terms
  const { askedMs, keepsAlive, stopped } = asked
  // Not all of the time that is left: when a connection has gone dead, another one may do.
  const patienceMs = (): number => Math.min(validity.remainingMs(), Math.max(1000, askedMs / part))
  const onSend = (sentAt: number): void => validity.expect(sentAt, askedMs)
  // what nobody waits for can wait for others
  if (!keepsAlive) {
    const due = { held, ttlMs: askedMs, patienceMs: patienceMs(), isOver: () => stopped.aborted, onSend }
    const reply = await rounds.renew(due)
    if (reply !== undefined) return reply
  }
  const limit = limitTo({ ms: patienceMs(), signal: stopped, keepsAlive })
  const reply = await callLease(port, {
    statements: ({ renew }) => renew(held, askedMs),
    signal: limit.signal,
    onSend,
    onLate: async (late) => {
      if (stopped.aborted) await patiently(late)
      else late.doubt(limit.signal.reason)
    },
  })
  limit.end()
  return reply
}

/** A connection that did not come is no refusal: the next one may. */
function isRefused(error: unknown): boolean {
  return error instanceof LockUsageError && error.field === 'nested'
}
