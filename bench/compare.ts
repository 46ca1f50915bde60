import type { Goal, SectionRow } from './scenario.ts'

/*
 * How contestants are measured side by side.
 *
 *   const { rows, ratio } = await compare(
 *     [
 *       { name: 'Holdfast', round: () => perSecond({ workers: 16, operations: 800 }, transferWithLocks) },
 *       { name: 'hand-written', round: () => perSecond({ workers: 16, operations: 800 }, transferByHand) },
 *     ],
 *     { ...roundsFor(bench.effort, { rounds: 15 }), say: bench.say },
 *   )
 *   return { title, unit: 'tx/s', isMoreBetter: true, rows, goals: [{ what, ...ratio('Holdfast', 'hand-written'), must: 1.4 }] }
 *
 * A round runs every contestant once, so that whatever else the machine does meets all of them alike; the order rotates
 * from round to round, so that nobody always comes after the same neighbour. The first rounds meet a cold server and
 * code that was never run: they are not counted. A round gives one figure, whatever it is (operations per second,
 * milliseconds, instructions). `rows` has the median of the rounds and their quartiles, in the order of the contestants.
 *
 * `ratio(a, b)` is the median of `a / b` round by round, with its quartiles: both figures of a round are from the same seconds, so a
 * machine that is slow for a while does not move it. Where less is better, ask for `ratio(b, a)`.
 */

/** Somebody who does the same work in another way. */
export interface Contestant {
  readonly name: string
  /** Does the work of one round and gives its figure. Warm-up rounds have numbers below 0. */
  readonly round: (round: number) => Promise<number>
  /** Other figures, asked for once after the last round: longest wait, retries, memory. */
  readonly more?: () => Readonly<Record<string, number>>
}

export interface CompareOptions {
  readonly rounds: number
  /** @default 1 */
  readonly warmUp?: number
  /**
   * Ends it after so long, though not all rounds were run: a third of the time is for the warm-up, and three rounds are
   * always counted.
   * @default as long as the rounds take
   */
  readonly forMs?: number
  /** Told after each round. */
  readonly say?: (line: string) => void
  /** What the progress is of. */
  readonly title?: string
}

export interface Comparison {
  readonly rows: readonly SectionRow[]
  /** The figures of the counted rounds, by name. */
  readonly figures: ReadonlyMap<string, readonly number[]>
  /** What `a / b` is round by round. */
  readonly ratio: (a: string, b: string) => Reached
}

/** The middle of what the rounds reached, and its quartiles. */
export type Reached = Required<Pick<Goal, 'reached' | 'low' | 'high'>>

/** Fewer have no quartiles. */
const fewestRounds = 3

export async function compare(
  contestants: readonly Contestant[],
  { rounds, warmUp = 1, forMs = Infinity, say = () => {}, title = 'round' }: CompareOptions,
): Promise<Comparison> {
  const figures = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  if (figures.size < contestants.length) throw new Error('two contestants have one name')
  const began = performance.now()
  const isOver = (part: number): boolean => performance.now() - began > forMs * part
  for (let round = -warmUp; round < rounds; round += 1) {
    if (round < 0 && isOver(1 / 3)) round = 0
    if (round >= fewestRounds && isOver(1)) break
    for (const { name, round: run } of rotated(contestants, round + warmUp)) {
      const figure = await run(round)
      if (!Number.isFinite(figure)) throw new Error(`${name}: ${figure} is not a figure`)
      if (round >= 0) figures.get(name)?.push(figure)
    }
    if (round >= 0) say(`${title}: ${round + 1} of ${rounds}`)
  }
  return {
    rows: contestants.map(({ name, more }) => ({
      name,
      ...quartiles(figures.get(name) ?? []),
      ...(more && { more: more() }),
    })),
    figures,
    ratio: (a, b) => ratioOf(figures.get(a), figures.get(b)),
  }
}

function rotated<T>(all: readonly T[], by: number): readonly T[] {
  const start = by % Math.max(1, all.length)
  return [...all.slice(start), ...all.slice(0, start)]
}

function ratioOf(a: readonly number[] | undefined, b: readonly number[] | undefined): Reached {
  if (a === undefined || b === undefined) throw new Error('a ratio of somebody who did not take part')
  return reachedBy(a.map((figure, round) => figure / (b[round] ?? NaN)))
}

/** As a goal has it. */
export function reachedBy(figures: readonly number[]): Reached {
  const { median, low, high } = quartiles(figures)
  return { reached: median, low, high }
}

/** The middle of some figures, and what a quarter of them is below or above. Between two figures it is interpolated. */
export function quartiles(figures: readonly number[]): Pick<SectionRow, 'median' | 'low' | 'high'> {
  return { median: quantile(figures, 0.5), low: quantile(figures, 0.25), high: quantile(figures, 0.75) }
}

/** The figure that this part of all figures is below; NaN of none. `quantile(waits, 0.99)` is a p99. */
export function quantile(figures: readonly number[], part: number): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const below = sorted[Math.floor(place)] ?? NaN
  const above = sorted[Math.ceil(place)] ?? NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** So many workers at once. All of them have ended before it rejects with what the first of them was refused with. */
export async function together(workers: number, work: (worker: number) => Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: workers }, async (_, worker) => work(worker)))
  const refused = ends.find((end) => end.status === 'rejected')
  if (refused !== undefined) throw refused.reason
}

export interface Load {
  readonly workers: number
  /** How many operations all workers do together: whoever is free takes the next. */
  readonly operations: number
}

/** Operations in a second. `work` is told its worker, from 0, and the number of the operation. */
export async function perSecond(
  { workers, operations }: Load,
  work: (worker: number, operation: number) => Promise<unknown>,
): Promise<number> {
  let next = 0
  const before = performance.now()
  await together(workers, async (worker) => {
    while (next < operations) {
      const operation = next
      next += 1
      await work(worker, operation)
    }
  })
  return (operations * 1000) / (performance.now() - before)
}
