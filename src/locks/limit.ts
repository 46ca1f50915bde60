import { graceMs } from '../core/grace.ts'
import { LockTimeoutError } from '../core/errors.ts'
import { Cutoff, untilAborted, type Abortable } from './abort.ts'
import { inDueTime } from './in-due-time.ts'

/** The end of one wait: its signal aborts when the time is over, or when the caller's own signal does. */
export interface Limit {
  readonly signal: Abortable
  /** Gives it so long from now on. `says`: what it then means that the time is over. */
  readonly endIn: (ms: number, says?: string) => void
  /** Takes its timer and its listener away. */
  readonly end: () => void
}

export interface LimitTerms {
  /** `Infinity` where only the signal ends the wait. */
  readonly ms: number
  readonly signal?: Abortable | undefined
  /** How much longer than the signal it lasts. @default 0 */
  readonly outlivesSignalMs?: number
  /** Whether the process stays alive for it: not for what nobody waits for. @default true */
  readonly keepsAlive?: boolean
  /** What it means that the time is over. @default that there was no answer */
  readonly says?: string
}

/** The server has not answered, in a time in which it would have. Nobody knows what it has done. */
export class NoAnswerError extends LockTimeoutError {
  readonly afterMs: number

  constructor(ms: number, says = `no answer in ${Math.ceil(ms)} ms`) {
    super(says)
    this.afterMs = ms
  }
}

export function limitTo({ ms, signal, outlivesSignalMs = 0, keepsAlive = true, says }: LimitTerms): Limit {
  const cutoff = new Cutoff()
  let stop: (() => void) | undefined
  const endIn = (left: number, meaning = says): void => {
    stop?.()
    stop = inDueTime(left, () => cutoff.abort(new NoAnswerError(left, meaning)), keepsAlive)
  }
  const pass = (): void => (outlivesSignalMs > 0 ? endIn(outlivesSignalMs) : cutoff.abort(signal?.reason))
  if (Number.isFinite(ms)) endIn(Math.max(0, ms))
  if (signal?.aborted === true) pass()
  else signal?.addEventListener('abort', pass, { once: true })
  return {
    signal: cutoff,
    endIn,
    end: () => {
      stop?.()
      signal?.removeEventListener('abort', pass)
    },
  }
}

/** What `work` gives. When the limit comes first, `giveUp` is told why, and that is thrown. */
export function within<T>(terms: LimitTerms, work: Promise<T>, giveUp: (why: unknown) => void): Promise<T> {
  const { ms, signal } = terms
  if (ms === Infinity && terms.outlivesSignalMs === undefined)
    return untilAborted(work, signal, () => giveUp(signal?.reason))
  const limit = limitTo(terms)
  return untilAborted(work, limit.signal, () => giveUp(limit.signal.reason)).finally(limit.end)
}

/** What `work` gives, or {@link NoAnswerError} when it takes longer than anything that has no limit of its own may. */
export function inGrace<T>(work: Promise<T>): Promise<T> {
  return within({ ms: graceMs }, work, () => {})
}
