import { LockUsageError } from '../core/errors.ts'

/** One point of a schedule at which somebody takes a step. */
export interface Decision {
  /** Who could take it, in the order of the actors. */
  readonly enabled: readonly string[]
  readonly chosen: string
  /** Who took the step before. */
  readonly current: string | undefined
  /**
   * Whoever took it has lost a conflict, and would begin again: now the others go first. A scheduler that let it try again
   * and again would use up its attempts before anybody else could move.
   */
  readonly isYielding?: boolean
}

/** The short name of a schedule: `a b b a`. */
export function nameOf(decisions: readonly Pick<Decision, 'chosen'>[]): string {
  return decisions.map(({ chosen }) => chosen).join(' ')
}

/** The steps of a schedule by its name. Throws {@link LockUsageError} when it names somebody else than the actors. */
export function stepsOf(name: string, actors: readonly string[]): readonly string[] {
  const steps = name.split(/\s+/).filter((step) => step !== '')
  if (steps.length === 0)
    throw new LockUsageError('schedule', "is empty: name who takes a step, as in 'a b b a'")
  const stranger = steps.find((step) => !actors.includes(step))
  if (stranger === undefined) return steps
  throw new LockUsageError(
    'schedule',
    `${JSON.stringify(stranger)} is no actor: it is made of ${actors.join(', ')}`,
  )
}

/** Whether somebody was interrupted who could have gone on, or went on who should have let others go first. */
function isSwitch({ enabled, chosen, current, isYielding = false }: Decision): boolean {
  return current !== undefined && enabled.includes(current) && (chosen === current) === isYielding
}

export function switchesOf(decisions: readonly Decision[]): number {
  return decisions.filter(isSwitch).length
}

/** Whether each actor took all of its steps at a stretch. */
export function isSerial(name: string): boolean {
  const steps = name.split(' ')
  const turns = steps.filter((step, index) => step !== steps[index - 1])
  return new Set(turns).size === turns.length
}

/** Who goes on where nobody is told: whoever took the last step, else the first who can. */
export function usualChoice({ enabled, current, isYielding = false }: Omit<Decision, 'chosen'>): string {
  const isGoingOn = !isYielding && current !== undefined && enabled.includes(current)
  const usual = isGoingOn ? current : enabled.find((name) => name !== current)
  if (usual === undefined) throw new TypeError('nobody can take a step')
  return usual
}

/**
 * Every schedule, those with the fewest switches first.
 *
 * A schedule is known by the steps at its start; behind them everybody goes on for as long as possible. What else could
 * have been chosen there is only known once it was run, and is told by `ran`.
 */
export class Search {
  /** The starts that are still to be run, by their switches. */
  readonly #open: (readonly string[])[][] = [[[]]]
  #size = 1
  #last: (readonly string[])[] | undefined

  /** The start of the next schedule with at most so many switches; undefined when there is none. */
  next(mostSwitches: number = Infinity): readonly string[] | undefined {
    const bucket = this.#open.find((starts) => starts.length > 0)
    if (bucket === undefined || this.#open.indexOf(bucket) > mostSwitches) return undefined
    this.#size -= 1
    this.#last = bucket
    return bucket.shift()
  }

  /** The last one was not run to its end. */
  putBack(start: readonly string[]): void {
    this.#last?.unshift(start)
    this.#size += 1
  }

  /** A schedule was run that began so: tells what else could have been chosen behind its start. */
  ran(start: readonly string[], decisions: readonly Decision[]): void {
    for (const [index, decision] of decisions.entries()) {
      if (index < start.length) continue
      const before = decisions.slice(0, index)
      for (const other of decision.enabled) {
        if (other !== decision.chosen) this.#add([...before, { ...decision, chosen: other }])
      }
    }
  }

  /** Starts that were not run. */
  get left(): number {
    return this.#size
  }

  /** Every schedule with up to this many switches was run; Infinity when all were. */
  get completeSwitches(): number {
    const lowest = this.#open.findIndex((starts) => starts.length > 0)
    return lowest === -1 ? Infinity : lowest - 1
  }

  #add(decisions: readonly Decision[]): void {
    const switches = switchesOf(decisions)
    while (this.#open.length <= switches) this.#open.push([])
    this.#open[switches]?.push(decisions.map(({ chosen }) => chosen))
    this.#size += 1
  }
}
