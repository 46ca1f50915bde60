import pg from 'pg'

import { compare, type Comparison, type Contestant } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'
import { installedPeers } from '../transactions/booking-peers.ts'
import { publishedFolder } from '../transactions/library.ts'
import { names, schema } from '../transactions/bookings.ts'
import { withWays } from '../ways.ts'

interface Situation {
  readonly title: string
  readonly workers: number
  readonly rooms: number
}

const situations: readonly Situation[] = [
  { title: '1 worker', workers: 1, rooms: 1000 },
  { title: '16 workers, 1 key', workers: 16, rooms: 1 },
  { title: '16 workers, 1,000 keys', workers: 16, rooms: 1000 },
]

interface Place {
  readonly title: string
  readonly url: string
  readonly isFar: boolean
}

/** Those that open a connection for each lock, or poll for it, would make every round take minutes. */
const operationsOfPeers = 16

export const advisory: Scenario = {
  id: 'advisory',
  title: 'A transaction under an advisory lock',
  about:
    'Books a slot of a room under the room’s lock: begin, lock timeout, lock, read, check, insert, commit. By hand that is ' +
    'six round trips; as a batch it is one. Each way runs in a process of its own, as an application would, with as many connections as there ' +
    'are workers. `advisory-lock` and `pg-mutex-lock` lock on a connection beside the transaction.',
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    const proxy = await startDelayProxy(server.url, 1)
    const places = [
      { title: 'direct', url: server.url, isFar: false },
      { title: '1 ms each way', url: proxy.url, isFar: true },
    ]
    const sections: Section[] = []
    try {
      // the last one has all that the first has
      for (const place of bench.isQuick ? places.slice(-1) : places) {
        const prepared = (): Promise<void> => prepare(server.url)
        sections.push(...(await measureAt(bench, place, prepared)))
      }
    } finally {
      await proxy.close()
    }
    return sections
  },
}

async function prepare(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  for (const statement of schema) await client.query(statement)
  await client.end()
}

async function measureAt(
  bench: Bench,
  place: Place,
  prepared: () => Promise<void>,
): Promise<readonly Section[]> {
  const folder = bench.isQuick ? '' : (await publishedFolder()).href
  const peers = await installedPeers()
  const connections = Math.max(...situations.map(({ workers }) => workers))
  const ways = [...Object.values(names), ...peers].map((name, index) => ({
    name,
    args: [place.url, name, String(connections), String(index * 10_000_000), folder],
  }))
  return withWays('transactions/booker.ts', ways, async (ask) => {
    const sections: Section[] = []
    for (const situation of situations) {
      await prepared()
      const contestants = ways.map(({ name }) => {
        const operations = operationsOf(bench, place, { ...situation, isPeer: peers.includes(name) })
        return { name, round: () => ask(name, `${situation.workers} ${operations} ${situation.rooms}`) }
      })
      sections.push(await measure(bench, place, { situation, contestants, hasPeers: peers.length === 2 }))
    }
    return sections
  })
}

/** How often each books in a round. */
function operationsOf(
  { isQuick }: Bench,
  { isFar }: Place,
  { workers, rooms, isPeer }: Situation & { readonly isPeer: boolean },
): number {
  if (isPeer) return isQuick ? 2 : operationsOfPeers
  if (isQuick) return 16
  if (!isFar) return 200
  return rooms === 1 && workers > 1 ? 48 : Math.ceil(50 * Math.sqrt(workers))
}

interface Measured {
  readonly situation: Situation
  readonly contestants: readonly Contestant[]
  readonly hasPeers: boolean
}

async function measure(
  bench: Bench,
  place: Place,
  { situation, contestants, hasPeers }: Measured,
): Promise<Section> {
  const title = `${place.title}, ${situation.title}`
  // a server runs for days: what counts is code that was run some thousand times
  const warmUp = bench.isQuick ? 0 : place.isFar ? 2 : 30
  // short rounds, and many: what else the machine does comes and goes within a second
  const options = { rounds: bench.isQuick ? 1 : place.isFar ? 11 : 101, warmUp, say: bench.say, title }
  const comparison = await compare(contestants, options)
  return {
    title,
    unit: 'tx/s',
    isMoreBetter: true,
    rows: comparison.rows,
    goals: situation.workers === 1 ? goalsOf(comparison, place) : [],
    notes: [
      ...(hasPeers ? [] : ['advisory-lock and pg-mutex-lock are measured where they are installed.']),
      ...(situation.rooms === 1 ? ['All wait for one key: only what is done while it is held counts.'] : []),
    ],
  }
}

function goalsOf({ ratio }: Comparison, { isFar, title }: Place): readonly Goal[] {
  const goal = (way: string, than: string, must: number): Goal => ({
    what: `${way} against ${than}, ${title}`,
    reached: ratio(way, than),
    must,
  })
  if (!isFar) return [goal(names.pg, names.pgByHand, 1.1), goal(names.batch, names.pgByHand, 2.5)]
  return [
    goal(names.pg, names.pgByHand, 1.4),
    goal(names.riding, names.pgByHand, 1.8),
    goal(names.batch, names.pgByHand, 4.5),
    goal(names.kysely, names.kyselyByHand, 1.35),
  ]
}
