import pg from 'pg'

import { startChild, type Child } from '../child.ts'
import { compare, type Comparison, type Contestant } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'
import { installedPeers } from '../transactions/booking-peers.ts'
import { publishedFolder } from '../transactions/library.ts'
import { names, schema } from '../transactions/bookings.ts'

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
    'six round trips. Each way runs in a process of its own, as an application would, with as many connections as there ' +
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
      for (const place of places) {
        for (const situation of situations) {
          await prepare(server.url)
          sections.push(await measure(bench, place, situation))
        }
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

async function measure(bench: Bench, place: Place, situation: Situation): Promise<Section> {
  const { workers, rooms } = situation
  const folder = bench.isQuick ? '' : (await publishedFolder()).href
  const peers = await installedPeers()
  const title = `${place.title}, ${situation.title}`
  const isQueue = rooms === 1 && workers > 1
  const perRound = bench.isQuick ? 16 : place.isFar ? (isQueue ? 48 : 50 * Math.sqrt(workers)) : 200
  const children: Child[] = []
  const contestant = (name: string, operations: number): Contestant => {
    const firstSlot = children.length * 10_000_000
    const words = [place.url, name, String(workers), String(firstSlot), folder]
    const child = startChild('transactions/booker.ts', words)
    children.push(child)
    return {
      name,
      round: async () => Number(await child.ask(`${workers} ${Math.ceil(operations)} ${rooms}`)),
    }
  }
  const contestants = [
    ...Object.values(names).map((name) => contestant(name, perRound)),
    ...peers.map((name) => contestant(name, bench.isQuick ? 2 : operationsOfPeers)),
  ]
  // a server runs for days: what counts is code that was run some thousand times
  const warmUp = bench.isQuick ? 0 : place.isFar ? 2 : 30
  // short rounds, and many: what else the machine does comes and goes within a second
  const options = { rounds: bench.isQuick ? 1 : place.isFar ? 11 : 101, warmUp, say: bench.say, title }
  try {
    const comparison = await compare(contestants, options)
    return {
      title,
      unit: 'tx/s',
      isMoreBetter: true,
      rows: comparison.rows,
      goals: workers === 1 ? goalsOf(comparison, place) : [],
      notes: [
        ...(peers.length === 2
          ? []
          : ['advisory-lock and pg-mutex-lock are measured where they are installed.']),
        ...(rooms === 1 ? ['All wait for one key: only what is done while it is held counts.'] : []),
      ],
    }
  } finally {
    await Promise.all(children.map((child) => child.end()))
  }
}

function goalsOf({ ratio }: Comparison, { isFar, title }: Place): readonly Goal[] {
  const goal = (way: string, than: string, must: number): Goal => ({
    what: `${way} against ${than}, ${title}`,
    reached: ratio(way, than),
    must,
  })
  if (!isFar) return [goal(names.pg, names.pgByHand, 1.1)]
  return [
    goal(names.pg, names.pgByHand, 1.4),
    goal(names.riding, names.pgByHand, 1.8),
    goal(names.kysely, names.kyselyByHand, 1.35),
  ]
}
