import type { AttestedCapability } from '../../core/attestation.ts'
import { LockTimeoutError, UnsupportedLockError } from '../../core/errors.ts'
import { NoConnectionError } from '../open-session.ts'
import type { Attempt } from './attempt.ts'

/** What was seen of one capability. */
export interface Verdict extends Pick<AttestedCapability, 'observed' | 'detail'> {
  /** Where one trial tells of several capabilities: how long this one took. */
  readonly tookMs?: number
}

export function holds(detail: string): Verdict {
  return { observed: 'holds', detail }
}

export function broken(detail: string): Verdict {
  return { observed: 'broken', detail }
}

export function untried(detail: string): Verdict {
  return { observed: 'untried', detail }
}

export function refused(detail: string): Verdict {
  return { observed: 'refused', detail }
}

/** What it means that a lock could not be asked for, or that the server answered with an error of its own. */
export function verdictOfError(error: unknown): Verdict {
  if (error instanceof UnsupportedLockError) return refused(error.reason)
  if (error instanceof NoConnectionError) return untried(`a second connection is needed: ${wordsOf(error)}`)
  if (error instanceof LockTimeoutError)
    return untried(`it could not be had to begin with: ${wordsOf(error)}`)
  return refused(`the server says: ${wordsOf(error)}`)
}

/** What it means that somebody got a lock who should not, or failed in another way than by being kept out. */
export function verdictOfLoser(loser: Attempt<unknown>, granted: string): Verdict {
  return loser.outcome === 'failed' ? verdictOfError(loser.error) : broken(granted)
}

/** An error in one line. */
export function wordsOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 299)}…` : line
}

/** A time as people read it. */
export function inMs(ms: number): string {
  return `${Math.round(ms)} ms`
}
