import type { CompareOptions } from './compare.ts'

/**
 * How long a scenario takes.
 *
 * - `glimpse`: each part just long enough to be seen working, for the tests. Its figures mean nothing.
 * - `quick`: only what has a goal, for some seconds each: ratios for whoever changes something.
 * - `full`: all of it, for figures that are kept.
 */
export type Effort = 'glimpse' | 'quick' | 'full'

type Rounds = Pick<CompareOptions, 'rounds' | 'warmUp' | 'forMs'>

/** One round that nobody reads. */
const once: Rounds = { rounds: 1, warmUp: 0 }

/** As many short rounds as there is time for. All comparisons with a goal together take about five minutes. */
const forSeconds: Rounds = { rounds: 51, warmUp: 2, forMs: 3500 }

/**
 * How often each way is gone before anything is measured, where a full run has long rounds of warming up. A server runs for
 * days: what counts is code that was run some thousand times, and there is more of ours.
 */
export const quickWarmUp = 2000

export function roundsFor(effort: Effort, full: Rounds): Rounds {
  return { glimpse: once, quick: forSeconds, full }[effort]
}
