import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { contest, type Outcome } from '../../test/sqlite-contention/contest.ts'
import type { Way } from '../../test/sqlite-contention/worker.ts'
import { quartiles, reachedBy, type Reached } from '../compare.ts'
import type { Bench, Goal, Scenario, Section, SectionRow } from '../scenario.ts'

export const scenario: Scenario = {
  id: 'sqlite',
  title: 'SQLite: four processes write to one file',
  about:
    'Four processes with a writer each want more than one file can give: read a counter, write it, add a row, ' +
    '`synchronous = full`, WAL. Holdfast repeats `BEGIN IMMEDIATE` without stopping the event ' +
    'loop; by hand, `busy_timeout = 5000` waits inside of SQLite. The event loop gap is what a timer of one ' +
    'millisecond met, in the worst of the processes; fairness is the fewest transactions of a process to the most.',
  run: async (bench) => {
    const sections: Section[] = []
    for (const one of bench.effort === 'glimpse' ? shapes.slice(0, 1) : shapes)
      sections.push(...(await compareIn(bench, one)).map(bench.show))
    return sections
  },
}

interface Shape {
  /** In the names of its goals. */
  readonly name: string
  readonly title: string
  readonly thinkMs: number
  readonly restMs: number
  /** What has to be reached of the throughput of busy_timeout. */
  readonly throughput: number
  /** What the slowest process has to do of what the fastest does. */
  readonly fairness: number
  readonly note?: string
}

const shapes: readonly Shape[] = [
  {
    name: 'with pauses',
    title:
      'transactions of 1 ms, which wait for something between reading and writing, and 1 ms until the next',
    thinkMs: 1,
    restMs: 1,
    throughput: 0.85,
    fairness: 0.7,
  },
  {
    name: 'without pauses',
    title: 'transactions of 1 ms, each begun as soon as the last has ended',
    thinkMs: 1,
    restMs: 0,
    throughput: 0.9,
    fairness: 0.8,
    note:
      'The lock is free for a tenth of a millisecond between two transactions of one process. With `busy_timeout` the ' +
      'others meet that moment so seldom that one process does all of the work, and never has to read a page again.',
  },
  {
    name: 'without pauses, three statements',
    title: 'transactions as short as three statements, each begun as soon as the last has ended',
    thinkMs: 0,
    restMs: 0,
    throughput: 0.9,
    fairness: 0.8,
    note:
      'Such a transaction takes a tenth of a millisecond. With `busy_timeout` one process then does nearly all of the ' +
      'work, because the others sleep for longer than it ever pauses; whoever takes turns changes processes, and finds ' +
      'its cache of pages stale each time.',
  },
]

/** What is read of one contest. */
interface Figures {
  readonly perSecond: number
  readonly gapMs: number
  readonly longestWaitMs: number
  readonly fairness: number
}

const ways: readonly (readonly [Way, string])[] = [
  ['handle', 'Holdfast'],
  ['handles', 'Holdfast, a handle for each transaction'],
  ['by-hand', 'busy_timeout'],
]

/** A window is shorter than the busy_timeout, with which a writer that starves gives up. */
const sizes = {
  glimpse: { rounds: 1, windowMs: 300, processes: 2 },
  quick: { rounds: 3, windowMs: 1500, processes: 4 },
  full: { rounds: 4, windowMs: 3000, processes: 4 },
} as const

async function compareIn(bench: Bench, one: Shape): Promise<readonly Section[]> {
  const { title, thinkMs, restMs, note } = one
  const { rounds, windowMs, processes } = sizes[bench.effort]
  const asked = ways.filter(([way]) => bench.effort !== 'quick' || way !== 'handles')
  const seen = new Map<Way, Figures[]>(asked.map(([way]) => [way, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [way] of asked) {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
      const outcome = await contest({
        way,
        file: join(folder, 'db'),
        processes,
        waiters: 1,
        part: { windowMs },
        thinkMs,
        restMs,
      })
      seen.get(way)?.push(figuresOf(outcome, windowMs))
      await rm(folder, { recursive: true, force: true })
    }
    bench.say(`${title}: ${round + 1} of ${rounds}`)
  }
  const all = (way: Way, read: (figures: Figures) => number): readonly number[] =>
    (seen.get(way) ?? []).map(read)
  const row =
    (read: (figures: Figures) => number) =>
    ([way, name]: readonly [Way, string]): SectionRow => ({
      name,
      ...quartiles(all(way, read)),
    })
  const own = (read: (figures: Figures) => number): Reached => reachedBy(all('handle', read))
  /** Both of a round are from the same seconds. */
  const ratio = (read: (figures: Figures) => number): Reached => {
    const byHand = all('by-hand', read)
    return reachedBy(all('handle', read).map((figure, index) => figure / (byHand[index] ?? NaN)))
  }
  const section = (unit: string, read: (figures: Figures) => number, goal: Goal): Section => ({
    title: `${title}: ${goal.what}`,
    unit,
    isMoreBetter: goal.isAtMost !== true,
    rows: asked.map(row(read)),
    goals: [{ ...goal, what: `${goal.what}, ${one.name}` }],
    ...(note !== undefined && { notes: [note] }),
  })
  const gap = ({ gapMs }: Figures): number => gapMs
  const wait = ({ longestWaitMs }: Figures): number => longestWaitMs
  const fairness = (figures: Figures): number => figures.fairness
  const throughput = ({ perSecond }: Figures): number => perSecond
  return [
    section('ms', gap, { what: 'event loop gap, p99', ...own(gap), must: 10, isAtMost: true }),
    section('ms', wait, {
      what: 'longest wait, to that of busy_timeout',
      ...ratio(wait),
      must: 0.333,
      isAtMost: true,
    }),
    section('min/max', fairness, { what: 'fairness', ...own(fairness), must: one.fairness }),
    section('tx/s', throughput, {
      what: 'throughput, to that of busy_timeout',
      ...ratio(throughput),
      must: one.throughput,
    }),
  ]
}

function figuresOf({ reports }: Outcome, windowMs: number): Figures {
  const finished = reports.map((report) => report.finished.reduce((sum, one) => sum + one, 0))
  const failures = reports.flatMap((report) => report.failures)
  if (failures.length > 0) throw new Error(`a transaction failed: ${failures[0]}`)
  return {
    perSecond: finished.reduce((sum, one) => sum + one, 0) / (windowMs / 1000),
    gapMs: Math.max(...reports.map(({ gaps }) => gaps.p99Ms)),
    longestWaitMs: Math.max(...reports.map(({ longestMs }) => longestMs)),
    fairness: Math.min(...finished) / Math.max(...finished),
  }
}
