import type { SupportLevel } from '../core/support.ts'
import type { Feature } from './feature.ts'

/** What a run of the laws found: plain data, ready for JSON. */
export interface Report {
  /** Holdfast's own version. */
  readonly version: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly tookMs: number
  readonly seed: number
  readonly subjects: readonly SubjectReport[]
}

/** What was found on one database. */
export interface SubjectReport {
  readonly title: string
  readonly adapter: string
  /** Empty when the database could not be reached. */
  readonly dialect: string
  readonly version: string
  readonly tookMs: number
  readonly results: readonly LawResult[]
  readonly matrix: readonly MatrixCell[]
  /** Why the laws could not be run, or not to their end. */
  readonly error?: string
  /** The run ended before its turn came. */
  readonly notBegun?: true
}

/**
 * `holds`: as promised. `broken`: not as promised. `refused`: this server does not get what the law is about, and
 * whoever asks is told so. `not-promised`: the law does not speak about such a database.
 */
export type Verdict = 'holds' | 'broken' | 'refused' | 'not-promised'

/** What became of one law on one subject. */
export interface LawResult {
  readonly id: string
  readonly says: string
  readonly features: readonly Feature[]
  readonly verdict: Verdict
  /** Why it is refused or not promised; what was seen where it is broken. */
  readonly reason?: string
  readonly tookMs: number
  /** How often it was run; the trace is that of the run that failed, or of the last. */
  readonly runs: number
  readonly trace: readonly TraceEvent[]
}

/** One thing that one session did. */
export interface TraceEvent {
  /** The session's name in the law: `a`, `b`. */
  readonly actor: string
  /** As in `lock row 1`. */
  readonly does: string
  /** Since the law began. */
  readonly startMs: number
  /** Absent when it never ended. */
  readonly endMs?: number
  readonly outcome: 'done' | 'waits' | 'failed' | 'unfinished'
  /** The value it saw, or the error. */
  readonly detail?: string
}

/** How many laws of one feature held on one subject. */
export interface MatrixCell {
  readonly feature: Feature
  /** The support that the dialect declares, unless a law or the server says otherwise. */
  readonly state: SupportLevel | 'refused' | 'broken' | 'untested'
  /** Why, where the state is not `native`. */
  readonly note?: string
  readonly held: number
  readonly broken: number
}
