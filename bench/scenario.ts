import type { Server } from '../test/engines/engine.ts'
import type { Effort } from './effort.ts'

/** One comparison: a file in `bench/scenarios/`. */
export interface Scenario {
  /** The name on the command line, and of the file. */
  readonly id: string
  readonly title: string
  /** What is compared and how, as Markdown. */
  readonly about: string
  readonly run: (bench: Bench) => Promise<readonly Section[]>
}

/** What a scenario is given. */
export interface Bench {
  readonly effort: Effort
  /** A server of this engine, with a database for this scenario alone. Absent when the machine has no such engine. */
  readonly server: (engine: string) => Promise<Server | undefined>
  /** Progress, for whoever watches. */
  readonly say: (line: string) => void
  /** Shows a section as soon as it is known, and gives it back: a run that is interrupted has told that much. */
  readonly show: (section: Section) => Section
}

/** Contestants in one situation. */
export interface Section {
  readonly title: string
  /** What the figures are: `tx/s`, `ms`, `jobs/s`, `instructions`. */
  readonly unit: string
  readonly isMoreBetter: boolean
  readonly rows: readonly SectionRow[]
  readonly goals: readonly Goal[]
  /** What a reader has to know to read the figures. */
  readonly notes?: readonly string[]
}

export interface SectionRow {
  readonly name: string
  readonly median: number
  /** The quartiles of the rounds. */
  readonly low: number
  readonly high: number
  /** Other figures of the same run: longest wait, round trips, memory. */
  readonly more?: Readonly<Record<string, number>>
}

/** A figure that was promised. */
export interface Goal {
  readonly what: string
  readonly reached: number
  /** The quartiles of what the rounds reached, where there were several. */
  readonly low?: number
  readonly high?: number
  readonly must: number
  /** @default false: `reached` has to be at least `must` */
  readonly isAtMost?: boolean
}
