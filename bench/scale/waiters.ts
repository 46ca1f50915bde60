import { quantile } from '../compare.ts'
import type { Way } from '../leases/ways.ts'
import type { Bench, Section } from '../scenario.ts'
import { curveOf, type Point } from './curve.ts'
import { runCrowd } from './crowd.ts'

const shown: readonly (readonly [string, Way])[] = [
  ['Holdfast, lease', 'holdfast'],
  ['Holdfast, withLock', 'holdfast in a transaction'],
  ['by hand, pg_advisory_lock', 'native'],
]

export interface Waiting {
  readonly counts: readonly number[]
  readonly processes: number
  /** Of each process. */
  readonly connections: number
}

/** Many wait for one lock, and each has it once. */
export async function waiters(bench: Bench, url: string, waiting: Waiting): Promise<Section> {
  const { counts, processes, connections } = waiting
  const points = shown.flatMap(([name, way]) =>
    counts.map((count) => {
      const crowd = { url, way, waiters: count, processes, connections }
      return pointOf(name, crowd, bench.effort === 'glimpse' ? 1 : 500)
    }),
  )
  const where = processes === 1 ? 'in one process' : `in ${processes} processes`
  const title = `a hand-off, many waiters ${where}`
  const notes = [
    `All of them wait while one holds the lock, on ${connections} connections for each process. Then each has it once.`,
    'Fairness: of the first half of the grants, those of the process with the fewest by those of the one with the most.',
  ]
  return curveOf(bench, { title, unit: 'us', points, rounds: processes === 1 ? 5 : 3, notes })
}

interface Terms {
  readonly url: string
  readonly way: Way
  readonly waiters: number
  readonly processes: number
  readonly connections: number
}

function pointOf(name: string, terms: Terms, warmUp: number): Point {
  const fairness: number[] = []
  const heap: number[] = []
  // of a few turns each, chance says more
  const isFairnessSeen = terms.processes > 1 && terms.waiters >= terms.processes * 10
  return {
    way: name,
    count: terms.waiters,
    cost: async (round) => {
      const lock = `crowd ${terms.way} ${terms.waiters} ${terms.processes} ${round}`
      const { usPerHandOff, ...more } = await runCrowd({ ...terms, name: lock, warmUp })
      fairness.push(more.fairness)
      heap.push(more.heapPerWaiter)
      return usPerHandOff
    },
    more: () => ({
      'bytes of heap per waiter': quantile(heap, 0.5),
      ...(isFairnessSeen && { 'fairness min/max': quantile(fairness, 0.5) }),
    }),
  }
}
