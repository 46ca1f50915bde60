import pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'
import { postgresProtocol } from '../../test/wire/protocols.ts'
import { startProxy } from '../../test/wire/proxy.ts'
import { compare, perSecond, quantile, reachedBy, type Contestant } from '../compare.ts'
import { startChild } from '../child.ts'
import { roundsFor } from '../effort.ts'
import { contest, type ContestTerms } from '../leases/contest.ts'
import { afterDeath, afterRelease, ttlMs, type Stage } from '../leases/hand-off.ts'
import { benchTable, type Way } from '../leases/ways.ts'
import type { Bench, Scenario, Section } from '../scenario.ts'

const about = `
Leases on PostgreSQL: how fast one passes from a process to another, what many who contend for one cost the server, and
what it costs to hold many.

- **Holdfast**: \`locks.lease(name)\` on a \`pg\` pool.
- **hand-written, polling**: a row with an end, asked for every 100 ms.
- **hand-written, NOTIFY wakes all**: the same row; each release wakes all who wait, who then ask at once.
- **native lock**: \`pg_advisory_lock\` on a connection of its own. It has no fence and no time to live, and takes a
  connection for each who waits or holds: a lower bound, not an alternative.

Queries are counted on the wire, by a proxy that all connections lead through; times are taken without it.
`

/** Enough for the engine of the language to have seen it all; quickly, most of it. */
const cyclesAt = { glimpse: 0, quick: 500, full: 2000 } as const

const shown: readonly (readonly [string, Way])[] = [
  ['Holdfast', 'holdfast'],
  ['hand-written, polling', 'polling'],
  ['hand-written, NOTIFY wakes all', 'wake all'],
  ['native lock', 'native'],
]

export const leases: Scenario = {
  id: 'leases',
  title: 'Leases',
  about: about.trim(),
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    await prepare(server.url)
    const asked = bench.effort === 'quick' ? [handOffs, contests] : parts
    const sections: Section[] = []
    for (const part of asked) sections.push(...(await part(bench, server.url)))
    return sections
  },
}

async function prepare(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  await pool.query(benchTable)
  await (await createLocks(pool).lease('first')).release() // makes the table
  await pool.end()
}

type Closing = Contestant & { readonly close: () => Promise<void> }

async function withAll(
  open: (name: string, stage: Stage) => Promise<Closing>,
  stages: readonly (readonly [string, Stage])[],
  run: (contestants: readonly Contestant[]) => Promise<Section>,
): Promise<Section> {
  const all: Closing[] = []
  try {
    for (const [name, stage] of stages) all.push(await open(name, stage))
    return await run(all)
  } finally {
    for (const { close } of all) await close()
  }
}

/** Whoever is promised something, or all. */
function shownAt({ effort }: Bench): typeof shown {
  return effort === 'quick' ? shown.slice(0, 1) : shown
}

async function handOffs(bench: Bench, url: string): Promise<readonly Section[]> {
  const warmUp = cyclesAt[bench.effort]
  const title = 'hand-off after a release, one waiter'
  const stages = shownAt(bench).map(
    ([name, way]) => [name, { url, way, name: `hand-off ${way}`, warmUp }] as const,
  )
  const section = await withAll(afterRelease, stages, async (contestants) => {
    const rounds = roundsFor(bench.effort, { rounds: 31, warmUp: 15 })
    const { rows, figures } = await compare(contestants, { ...rounds, say: bench.say, title })
    const own = reachedBy(figures.get('Holdfast') ?? [])
    const goals = [{ what: 'p50 of a hand-off, in ms', ...own, must: 2, isAtMost: true }]
    const notes = ['From the call of `release` in one process until the other has the lease.']
    return { title, unit: 'ms', isMoreBetter: false, rows, goals, notes }
  })
  return [bench.show(section)]
}

async function deaths({ effort, say, show }: Bench, url: string): Promise<readonly Section[]> {
  const title = `hand-off after the holder's death, ttlMs ${ttlMs}`
  const ways = shown.filter(([, way]) => way !== 'wake all')
  const stages = ways.map(([name, way]) => [name, { url, way, name: `death ${way}`, warmUp: 0 }] as const)
  const section = await withAll(afterDeath, stages, async (contestants) => {
    const rounds = roundsFor(effort, { rounds: 7, warmUp: 0 })
    const { rows } = await compare(contestants, { ...rounds, say, title })
    const notes = [
      `The process is killed right after it was granted the lease, which then lasts for ${ttlMs} ms.`,
      'A native lock ends with its connection: at once when the process dies, and not at all while it is stopped.',
    ]
    return { title, unit: 'ms', isMoreBetter: false, rows, goals: [], notes }
  })
  return [show(section)]
}

const parts = [handOffs, deaths, contests, renewals, keeping] as const

const shapes = [
  { title: '16 contenders in 4 processes', processes: 4, perProcess: 4 },
  { title: '16 contenders in one process', processes: 1, perProcess: 16 },
] as const

const timesAt = {
  glimpse: { forMs: 300, patienceMs: 500 },
  quick: { forMs: 1500, patienceMs: 30_000 },
  full: { forMs: 4000, patienceMs: 60_000 },
} as const

async function contests(bench: Bench, url: string): Promise<readonly Section[]> {
  const sections: Section[] = []
  const times = { ...timesAt[bench.effort], warmUp: cyclesAt[bench.effort] }
  for (const { title, ...shape } of shapes)
    sections.push(bench.show(await contested(bench, title, { url, ...shape, ...times })))
  return sections
}

async function contested(
  bench: Bench,
  title: string,
  terms: Omit<ContestTerms, 'way' | 'name'>,
): Promise<Section> {
  const fairness = new Map<Way, number[]>(shown.map(([, way]) => [way, []]))
  const speeds = new Map<Way, number[]>(shown.map(([, way]) => [way, []]))
  const middle = (figures: ReadonlyMap<Way, readonly number[]>, way: Way): number =>
    quantile(figures.get(way) ?? [], 0.5)
  const contestants = shownAt(bench).map(([name, way]) => ({
    name,
    round: async (round: number) => {
      const result = await contest({ ...terms, way, name: `${title} ${way} ${round}` })
      fairness.get(way)?.push(result.fairness)
      speeds.get(way)?.push(result.handOffsPerSecond)
      return result.queriesPerHandOff
    },
    more: () => ({ 'fairness min/max': middle(fairness, way), 'hand-offs/s': middle(speeds, way) }),
  }))
  const rounds = bench.effort === 'glimpse' ? 1 : 3
  const { rows, figures } = await compare(contestants, { rounds, warmUp: 0, say: bench.say, title })
  const beside = (figures.get('Holdfast') ?? []).map((queries) => queries - 1)
  const goals = [
    {
      what: `queries per hand-off beside the release, ${title}`,
      ...reachedBy(beside),
      must: 2,
      isAtMost: true,
    },
    { what: `fairness min/max, ${title}`, ...reachedBy(fairness.get('holdfast') ?? []), must: 0.8 },
  ]
  const notes = [
    'Everything that all of them send is counted, the release included; each has connections and a locks object of its own, and asks again at once.',
    'Callers of one locks object stand in line in the process, and only the first of them asks the server.',
  ]
  return { title, unit: 'queries per hand-off', isMoreBetter: false, rows, goals, notes }
}

async function renewals({ effort, say, show }: Bench, url: string): Promise<readonly Section[]> {
  const title = 'renewals on request, 16 at once'
  const pool = new pg.Pool({ connectionString: url, max: 16 })
  const locks = createLocks(pool, { dialect: 'postgres' })
  const load = { workers: 16, operations: effort === 'glimpse' ? 64 : 2000 }
  const held = await Promise.all(Array.from({ length: 16 }, (_, index) => locks.lease(`renewed ${index}`)))
  const text =
    "UPDATE bench_lease SET ends_at = clock_timestamp() + interval '30 s' WHERE name = $1 AND owner = 'me'"
  for (const index of held.keys())
    await pool.query("INSERT INTO bench_lease VALUES ($1, 'me', clock_timestamp())", [`renewed ${index}`])
  try {
    const contestants = [
      { name: 'Holdfast', round: () => perSecond(load, async (worker) => held[worker]?.extend()) },
      {
        name: 'hand-written',
        round: () =>
          perSecond(load, (worker) => pool.query({ name: 'renew', text, values: [`renewed ${worker}`] })),
      },
    ]
    const { rows } = await compare(contestants, { ...roundsFor(effort, { rounds: 9 }), say, title })
    return [show({ title, unit: 'renewals/s', isMoreBetter: true, rows, goals: [], notes: [] })]
  } finally {
    for (const lease of held) await lease.release()
    await pool.end()
  }
}

interface Kept {
  readonly tookMs: number
  readonly cpuMs: number
  readonly memory: number
}

async function keeping({ effort, say, show }: Bench, url: string): Promise<readonly Section[]> {
  const count = effort === 'glimpse' ? 100 : 10_000
  const keptMs = effort === 'glimpse' ? 3000 : 30_000
  const seconds = keptMs / 3000
  const memory: Record<string, number> = {}
  const cpu: Record<string, number> = {}
  const contestants = ['Holdfast', 'hand-written'].map((name) => ({
    name,
    round: async () => {
      const proxy = await startProxy(url, postgresProtocol)
      const keeper = await startChild('leases/keeper.ts', [
        proxy.url,
        name.toLowerCase(),
        String(count),
        String(keptMs),
      ])
      const step = async (line: string): Promise<Kept> => JSON.parse(await keeper.ask(line)) as Kept
      memory[name] = (await step('take')).memory / count
      await step('keep') // the first round is spread over the time that taking them took
      const trips = await proxy.during(async () => {
        cpu[name] = (await step('keep')).cpuMs / (seconds * 10)
      })
      await step('release')
      await keeper.end()
      await proxy.close()
      await deleteKept(url)
      return trips.length / seconds
    },
    more: () => ({ '% of a core': cpu[name] ?? NaN, 'bytes of heap per lease': memory[name] ?? NaN }),
  }))
  const title = `${count} leases held, ttlMs ${keptMs}`
  const { rows } = await compare(contestants, { rounds: 1, warmUp: 0, say, title })
  const notes = [
    'Each lease is renewed once in a third of its time; what is due together is one statement with Holdfast.',
  ]
  return [show({ title, unit: 'queries/s', isMoreBetter: false, rows, goals: [], notes })]
}

async function deleteKept(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  await pool.query("DELETE FROM bench_lease WHERE name LIKE 'kept %'")
  await pool.end()
}
