import { checkDuration, checkSignal, checkWork, onlyKnown, oneOf, show } from '../core/check-field.ts'
import { LockUsageError } from '../core/errors.ts'
import type { ScheduleResult } from './report.ts'

/** How an actor ended: what its function gave, or what it threw. */
export type RaceResults<A extends string = string> = Readonly<Record<A, PromiseSettledResult<unknown>>>

/** What is explored, and how far. */
export interface ExploreOptions<A extends string = string> {
  /** The pool, client or instance that the functions use. What goes through another one is not seen. */
  readonly db: object
  /** Puts the database into the same state before every schedule. */
  readonly reset?: () => unknown
  /** The functions that run at once, two or three of them, each by a short name. */
  readonly actors: Readonly<Record<A, () => unknown>>
  /** Throws when the outcome is wrong. Runs after every schedule. */
  readonly invariant?: (results: RaceResults<A>) => unknown
  /** Runs this one schedule alone, by its name, as in `a b b a`. */
  readonly schedule?: string
  /** No more schedules are run. @default 500 */
  readonly schedules?: number
  /** No schedule with more switches is run. @default as many as there are */
  readonly switches?: number
  /** After so long no further schedule is begun. @default 60000 */
  readonly timeMs?: number
  /** The schedules beyond what can be run completely are drawn with it. @default 1 */
  readonly seed?: number
  /**
   * What a deadlock or a serialization failure means that an actor did not handle. `fail`: the schedule has failed.
   * `allow`: it is a result like any other. @default 'fail'
   */
  readonly conflicts?: 'fail' | 'allow'
  /**
   * The actors that are to be refused, by name: those that need not succeed in any schedule.
   * @default none: an actor that always fails shows nothing of what it does to the others
   */
  readonly mayFail?: readonly NoInfer<A>[]
  /** Code of an actor's own, between two statements, may take so long before the others go on. @default 300 */
  readonly patienceMs?: number
  /** A schedule in which nothing happens for so long is given up. @default 10000 */
  readonly hangMs?: number
  /** Ends the exploration; what was found until then is reported. */
  readonly signal?: AbortSignal
  /** Called after each schedule. */
  readonly onProgress?: (progress: RaceProgress) => void
}

/** How far an exploration is. */
export interface RaceProgress {
  /** How many schedules were run. */
  readonly schedules: number
  /** How many are known to exist. */
  readonly known: number
  /** The one that was just run. */
  readonly last: ScheduleResult
}

/** The options, complete. */
export interface Exploration {
  readonly db: object
  readonly reset: () => unknown
  readonly actors: Readonly<Record<string, () => unknown>>
  readonly invariant: (results: RaceResults) => unknown
  readonly schedule: string | undefined
  readonly schedules: number
  readonly switches: number
  readonly timeMs: number
  readonly seed: number
  readonly conflicts: 'fail' | 'allow'
  readonly mayFail: readonly string[]
  readonly patienceMs: number
  readonly hangMs: number
  readonly signal: AbortSignal | undefined
  readonly onProgress: (progress: RaceProgress) => void
}

const fields = [
  'db',
  'reset',
  'actors',
  'invariant',
  'schedule',
  'schedules',
  'switches',
  'timeMs',
  'seed',
  'conflicts',
  'mayFail',
  'patienceMs',
  'hangMs',
  'signal',
  'onProgress',
]

/** Throws {@link LockUsageError} for what cannot be explored. */
export function checkOptions<A extends string>(options: ExploreOptions<A>): Exploration {
  onlyKnown(options, fields)
  const { reset = nothing, invariant = nothing, onProgress = nothing, schedule, signal } = options
  checkSignal(signal)
  checkWork(reset, 'reset', 'async () => { ... }')
  checkWork(invariant, 'invariant', 'async (results) => { ... }')
  if (schedule !== undefined && typeof schedule !== 'string')
    throw new LockUsageError('schedule', `${show(schedule)} is not the name of a schedule, as in 'a b b a'`)
  return {
    db: options.db,
    reset,
    actors: checkActors(options.actors),
    invariant,
    schedule,
    schedules: checkCount('schedules', options.schedules ?? 500, 1),
    switches: options.switches === undefined ? Infinity : checkCount('switches', options.switches, 0),
    timeMs: checkDuration('timeMs', options.timeMs ?? 60_000),
    seed: checkCount('seed', options.seed ?? 1, 0),
    conflicts: oneOf('conflicts', options.conflicts ?? 'fail', ['fail', 'allow']),
    mayFail: checkNames(options.mayFail ?? [], options.actors),
    patienceMs: checkDuration('patienceMs', options.patienceMs ?? 300),
    hangMs: checkDuration('hangMs', options.hangMs ?? 10_000),
    signal,
    onProgress,
  }
}

function checkActors(actors: Exploration['actors']): Exploration['actors'] {
  if (typeof actors !== 'object' || actors === null || Object.keys(actors).length < 2)
    throw new LockUsageError(
      'actors',
      'needs at least two functions by name, as in { a: () => ..., b: () => ... }',
    )
  for (const [name, work] of Object.entries(actors)) {
    checkWork(work, `actors.${name}`, '() => buy()')
    if (!/^[\w-]+$/.test(name))
      throw new LockUsageError('actors', `${JSON.stringify(name)} is not a short name of letters and digits`)
  }
  return actors
}

function checkNames(given: unknown, actors: Exploration['actors']): readonly string[] {
  if (!Array.isArray(given))
    throw new LockUsageError('mayFail', `${show(given)} is not a list of names, as in ['a']`)
  const known = Object.keys(actors)
  for (const name of given as readonly unknown[]) {
    if (typeof name !== 'string' || !known.includes(name))
      throw new LockUsageError('mayFail', `${show(name)} is no actor: they are ${known.join(', ')}`)
  }
  return given as readonly string[]
}

function checkCount(field: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new LockUsageError(field, `${show(value)} is not a whole number from ${least} up`)
}

function nothing(): void {}
