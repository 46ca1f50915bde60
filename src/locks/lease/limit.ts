import { LockTimeoutError } from '../../core/errors.ts'
import { Cutoff, type Abortable } from '../abort.ts'

/** The end of one wait: its signal aborts when the time is over, or when the caller's own signal does. */
export interface Limit {
  readonly signal: Abortable
  /** Takes its timer and its listener away. */
  readonly end: () => void
}

export interface LimitTerms {
  /** `Infinity` where only the signal ends the wait. */
  readonly ms: number
  readonly signal?: Abortable | undefined
  /** Whether the process stays alive for it: not for what nobody waits for. @default true */
  readonly keepsAlive?: boolean
}

export function limitTo({ ms, signal, keepsAlive = true }: LimitTerms): Limit {
  const cutoff = new Cutoff()
  const pass = (): void => cutoff.abort(signal?.reason)
  const timeOut = (): void => cutoff.abort(new LockTimeoutError(`no answer in ${Math.ceil(ms)} ms`))
  let reading: NodeJS.Immediate | undefined
  // An answer that has arrived by then is read first: a program that was busy for longer would otherwise blame the server.
  const readFirst = (): void => {
    reading = setImmediate(timeOut)
  }
  const timer = Number.isFinite(ms) ? setTimeout(readFirst, Math.max(0, ms)) : undefined
  if (!keepsAlive) timer?.unref()
  if (signal?.aborted === true) pass()
  else signal?.addEventListener('abort', pass, { once: true })
  return {
    signal: cutoff,
    end: () => {
      clearTimeout(timer)
      clearImmediate(reading)
      signal?.removeEventListener('abort', pass)
    },
  }
}
