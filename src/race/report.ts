import type { TraceEvent } from '../conformance/report.ts'

/** What an exploration found: plain data, ready for JSON. */
export interface RaceReport {
  /** Holdfast's own version. */
  readonly version: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly tookMs: number
  readonly seed: number
  /** The driver whose statements were held back, such as `pg`. */
  readonly driver: string
  /** The actors, in their order. */
  readonly actors: readonly string[]
  /**
   * `none`: no schedule failed. `race`: the actors are right one after the other, and wrong in some other order.
   * `not-a-race`: they are wrong one after the other, too. `hang`: a schedule did not end. `unseen`: an actor sent no
   * statement through `db`, so nothing is known of it. `failing`: an actor failed in every schedule, and `mayFail` does
   * not name it, so nothing is known of it either. `interrupted`: the signal was aborted.
   */
  readonly verdict: 'none' | 'race' | 'not-a-race' | 'hang' | 'unseen' | 'failing' | 'interrupted'
  /** How many schedules were run. */
  readonly schedules: number
  /** How many are known to exist: those that were run, and those that are known and were not. */
  readonly known: number
  /** Whether every schedule was run. */
  readonly isComplete: boolean
  /** Every schedule with up to this many switches was run; -1 when not even those without a switch were. */
  readonly completeSwitches: number
  /** The first schedule that failed. Unless it was drawn at random, no other one that fails has fewer switches. */
  readonly failure?: ScheduleResult
  /** What limits the meaning of the rest, in sentences. */
  readonly notes: readonly string[]
}

/** What became of one schedule. */
export interface ScheduleResult {
  /** Who took a step, one after the other: `a b b a`. Runs it again alone, as `schedule` of the options. */
  readonly name: string
  /** How often somebody was interrupted who could have gone on. */
  readonly switches: number
  /**
   * `holds`: the invariant did. `broken`: it threw. `conflict`: a deadlock or a serialization failure reached the caller.
   * `hang`: it did not end. `left-open`: an actor ended and left a transaction or a connection behind.
   */
  readonly outcome: 'holds' | 'broken' | 'conflict' | 'hang' | 'left-open'
  /** What was wrong, in words. */
  readonly reason?: string
  /** How each actor ended. */
  readonly results: Readonly<Record<string, string>>
  readonly trace: readonly RaceEvent[]
}

/** One statement of one actor. */
export interface RaceEvent extends TraceEvent {
  /** Its place among all steps of the schedule, from 1. */
  readonly step: number
  /** The last step that had begun when it ended. Absent when it never ended. */
  readonly untilStep?: number
}
