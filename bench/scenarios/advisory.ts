import pg from 'pg'

import { compare, type Comparison, type Contestant } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import { quickWarmUp, roundsFor } from '../effort.ts'
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
      for (const place of bench.effort === 'glimpse' ? places.slice(-1) : places) {
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
  const folder = bench.effort === 'glimpse' ? '' : (await publishedFolder()).href
  // nothing is promised against them
  const peers = bench.effort === 'quick' ? [] : await installedPeers()
  const connections = Math.max(...situations.map(({ workers }) => workers))
  const ways = [...Object.values(names), ...peers].map((name, index) => ({
    name,
    args: [place.url, name, String(connections), String(index * 10_000_000), folder],
  }))
  return withWays('transactions/booker.ts', ways, async (ask) => {
    const sections: Section[] = []
    await prepared()
    if (bench.effort === 'quick')
      await Promise.all(ways.map(({ name }) => ask(name, `16 ${quickWarmUp} 1000`)))
    for (const situation of situations) {
      await prepared()
      const promised = new Set(promisesOf(place, situation).flatMap(({ way, than }) => [way, than]))
      const asked = ways.filter(({ name }) => bench.effort !== 'quick' || promised.has(name))
      const contestants = asked.map(({ name }) => {
        const operations = operationsOf(bench, place, { ...situation, isPeer: peers.includes(name) })
        return { name, round: () => ask(name, `${situation.workers} ${operations} ${situation.rooms}`) }
      })
      const measured = { situation, contestants, hasPeers: peers.length === 2 }
      sections.push(bench.show(await measure(bench, place, measured)))
    }
    return sections
  })
}

/** How often each books in a round. */
function operationsOf(
  { effort }: Bench,
  { isFar }: Place,
  { workers, rooms, isPeer }: Situation & { readonly isPeer: boolean },
): number {
  if (isPeer) return effort === 'glimpse' ? 2 : operationsOfPeers
  if (effort === 'glimpse') return 16
  if (effort === 'quick') return isFar ? workers : 100
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
  const warmUp = place.isFar ? 2 : 30
  // short rounds, and many: what else the machine does comes and goes within a second
  const rounds = roundsFor(bench.effort, { rounds: place.isFar ? 11 : 101, warmUp })
  const comparison = await compare(contestants, { ...rounds, say: bench.say, title })
  return {
    title,
    unit: 'tx/s',
    isMoreBetter: true,
    rows: comparison.rows,
    goals: goalsOf(comparison, title, promisesOf(place, situation)),
    notes: [
      ...(hasPeers ? [] : ['advisory-lock and pg-mutex-lock are measured where they are installed.']),
      ...(situation.rooms === 1 ? ['All wait for one key: only what is done while it is held counts.'] : []),
    ],
  }
}

/** How many times as fast a way has to be as another. */
interface Promised {
  readonly way: string
  readonly than: string
  readonly must: number
}

function promisesOf({ isFar }: Place, { workers }: Situation): readonly Promised[] {
  const against = (way: string, than: string, must: number): Promised => ({ way, than, must })
  const everywhere = [against(names.riding, names.pg, 1)]
  const near = [...everywhere, against(names.kysely, names.kyselyByHand, 0.95)]
  if (workers > 1) return isFar ? everywhere : near
  if (!isFar)
    return [against(names.pg, names.pgByHand, 1.1), against(names.batch, names.pgByHand, 2.5), ...near]
  return [
    against(names.pg, names.pgByHand, 1.4),
    against(names.riding, names.pgByHand, 1.8),
    against(names.batch, names.pgByHand, 4.5),
    against(names.kysely, names.kyselyByHand, 1.35),
    ...everywhere,
  ]
}

function goalsOf({ ratio }: Comparison, title: string, promised: readonly Promised[]): readonly Goal[] {
  return promised.map(({ way, than, must }) => ({
    what: `${way} against ${than}, ${title}`,
    ...ratio(way, than),
    must,
  }))
}
