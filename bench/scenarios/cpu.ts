import pg from 'pg'

import { compare, type Reached } from '../compare.ts'
import { countInstructions } from '../instructions.ts'
import { quickWarmUp, roundsFor } from '../effort.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'
import { schema } from '../transactions/bookings.ts'
import { publishedFolder } from '../transactions/library.ts'
import { withWays } from '../ways.ts'

const program = 'cpu-child.ts'

/** The names of the contestants, and what the program calls them. */
const ways = {
  'Holdfast on pg': 'holdfast',
  'Holdfast on pg, a new key each time': 'holdfastNewKeys',
  'the same messages by hand': 'byHand',
  'by hand, AsyncLocalStorage in use': 'byHandBesideStorage',
} as const

const ours: keyof typeof ways = 'Holdfast on pg'
const theirs: keyof typeof ways = 'the same messages by hand'

export const cpu: Scenario = {
  id: 'cpu',
  title: 'What Holdfast itself costs the processor',
  about:
    'A transaction under an advisory lock with one read in it, on `pg`, each way in a process of its own: what the client’s ' +
    'processor does for it. By hand the very same three messages are sent, in the same order, so the difference is what ' +
    'Holdfast does between them: it checks what it is given, makes names and receipts, watches for abort, loss and nested ' +
    'use, and tells what an error means. Nested use is noticed with Node’s `AsyncLocalStorage`, as frameworks and tracers ' +
    'keep track of a request; before Node 24 its first use makes every promise of the process dearer, also those of `pg`, ' +
    'so the last way is by hand in a process where something else uses it. A key that was not among the last thousand is ' +
    'hashed, and its statements are made: otherwise there are a thousand keys in turn.',
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    for (const statement of schema) await client.query(statement)
    await client.end()
    const folder = bench.effort === 'glimpse' ? '' : (await publishedFolder()).href
    const time = bench.show(await timeSection(server.url, folder, bench))
    const counts =
      bench.effort === 'glimpse' ? undefined : await instructionSection(server.url, folder, bench)
    return counts === undefined ? [time] : [time, bench.show(counts)]
  },
}

async function timeSection(url: string, folder: string, bench: Bench): Promise<Section> {
  const count = { glimpse: 20, quick: 200, full: 2000 }[bench.effort]
  const started = waysAt(bench).map(([name, way]) => ({ name, args: [url, way, folder] }))
  return withWays(program, started, async (ask) => {
    if (bench.effort === 'quick') await Promise.all(started.map(({ name }) => ask(name, String(quickWarmUp))))
    const contestants = started.map(({ name }) => ({ name, round: () => ask(name, String(count)) }))
    const rounds = roundsFor(bench.effort, { rounds: 15, warmUp: 10 })
    const { rows, ratio } = await compare(contestants, { ...rounds, say: bench.say, title: 'cpu' })
    return {
      title: 'a transaction under an advisory lock',
      unit: 'µs of user time',
      isMoreBetter: false,
      rows,
      goals: [goalOf('processor time', ratio(ours, theirs), 1.05)],
    }
  })
}

/** Compiling takes as many instructions as thousands of transactions, and there is more of ours to compile. */
const counted = {
  quick: { warmUp: 8000, count: 2000 },
  full: { warmUp: 60_000, count: 8000 },
} as const

/** The promises of older versions of Node cost more, and there is more of ours. */
const mustInstructions = Number(process.versions.node.split('.')[0]) >= 24 ? 1.15 : 1.2

/** They do not depend on what else the machine does. */
async function instructionSection(url: string, folder: string, bench: Bench): Promise<Section | undefined> {
  const counts = new Map<string, number>()
  const rounds = counted[bench.effort === 'full' ? 'full' : 'quick']
  for (const [name, way] of waysAt(bench)) {
    bench.say(`cpu: instructions, ${name}`)
    const count = await countInstructions(program, [url, way, folder], rounds)
    if (count === undefined) return undefined
    counts.set(name, count)
  }
  const of = (name: string): number => counts.get(name) ?? NaN
  return {
    title: 'a transaction under an advisory lock, instructions',
    unit: 'thousand instructions',
    isMoreBetter: false,
    rows: [...counts].map(([name, count]) => ({
      name,
      median: count / 1000,
      low: count / 1000,
      high: count / 1000,
    })),
    goals: [goalOf('instructions', { reached: of(ours) / of(theirs) }, mustInstructions)],
    notes: [
      `Counted by valgrind, after ${rounds.warmUp} transactions that are not counted.`,
      ...(bench.effort === 'full' ? ['By then all is compiled.'] : []),
    ],
  }
}

function waysAt({ effort }: Bench): readonly (readonly [string, string])[] {
  return Object.entries(ways).filter(([name]) => effort !== 'quick' || name === ours || name === theirs)
}

function goalOf(what: string, reached: Reached | Pick<Goal, 'reached'>, must: number): Goal {
  return { what: `Holdfast against ${theirs}, ${what}`, ...reached, must, isAtMost: true }
}
