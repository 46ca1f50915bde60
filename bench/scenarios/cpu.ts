import pg from 'pg'

import { compare } from '../compare.ts'
import { countInstructions } from '../instructions.ts'
import type { Bench, Scenario, Section } from '../scenario.ts'
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
    const folder = bench.isQuick ? '' : (await publishedFolder()).href
    const instructions = bench.isQuick ? undefined : await instructionSection(server.url, folder, bench)
    return [await timeSection(server.url, folder, bench), ...(instructions ? [instructions] : [])]
  },
}

async function timeSection(url: string, folder: string, bench: Bench): Promise<Section> {
  const [count, warmUp] = bench.isQuick ? [20, 0] : [2000, 10]
  const started = Object.entries(ways).map(([name, way]) => ({ name, args: [url, way, folder] }))
  return withWays(program, started, async (ask) => {
    const contestants = started.map(({ name }) => ({ name, round: () => ask(name, String(count)) }))
    const options = { rounds: bench.isQuick ? 1 : 15, warmUp, say: bench.say, title: 'cpu' }
    const { rows, ratio } = await compare(contestants, options)
    return {
      title: 'a transaction under an advisory lock',
      unit: 'µs of user time',
      isMoreBetter: false,
      rows,
      goals: goalsOf((a, b) => ratio(a, b), 'processor time'),
    }
  })
}

/** Compiling takes as many instructions as thousands of transactions, and there is more of ours to compile. */
const counted = { warmUp: 60_000, count: 8000 }

/** They do not depend on what else the machine does. */
async function instructionSection(url: string, folder: string, bench: Bench): Promise<Section | undefined> {
  const counts = new Map<string, number>()
  for (const [name, way] of Object.entries(ways)) {
    bench.say(`cpu: instructions, ${name}`)
    const count = await countInstructions(program, [url, way, folder], counted)
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
    goals: goalsOf((a, b) => of(a) / of(b), 'instructions'),
    notes: ['Counted by valgrind, after 60,000 transactions that are not counted: by then all is compiled.'],
  }
}

function goalsOf(ratio: (a: string, b: string) => number, what: string): Section['goals'] {
  return [
    { what: `Holdfast against ${theirs}, ${what}`, reached: ratio(ours, theirs), must: 1.05, isAtMost: true },
  ]
}
