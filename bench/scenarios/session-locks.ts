import pg from 'pg'

import { compare, quantile } from '../compare.ts'
import { startChild } from '../child.ts'
import { roundsFor } from '../effort.ts'
import type { Bench, Scenario, Section, SectionRow } from '../scenario.ts'
import { readBackends } from '../session-locks/backends.ts'

const about = `
Session locks that one process holds at the same time on PostgreSQL: 1,000 and 5,000 of \`locks.acquire\`, on few shared
connections, and by hand with a connection for each lock, as many as the server accepts. They are taken one after another.
`

export const sessionLocks: Scenario = {
  id: 'session-locks',
  title: 'Session locks held',
  about: about.trim(),
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    const kept = await keepAll(bench, server.url)
    const promised = bench.show(connections(kept))
    return bench.effort === 'quick'
      ? [promised]
      : [bench.show(times(kept)), promised, bench.show(memory(kept))]
  },
}

interface Kept {
  readonly name: string
  readonly count: number
  readonly time: SectionRow
  readonly connections: readonly number[]
  readonly clientBytes: readonly number[]
  readonly serverBytes: readonly number[]
}

/** How many locks Holdfast holds. The first count is the one that something is promised of. */
const counts = { glimpse: [50], quick: [1000], full: [1000, 5000] } as const

async function keepAll({ effort, say }: Bench, url: string): Promise<readonly Kept[]> {
  const most = Math.min(effort === 'glimpse' ? 5 : 1000, await freeConnections(url))
  const own = counts[effort].map((count) =>
    keeperOf(`Holdfast, ${count} locks`, { way: 'holdfast', count, url }),
  )
  const oneEach = keeperOf(`one connection each, ${most} locks`, { way: 'one each', count: most, url })
  const all = effort === 'quick' ? own : [...own, oneEach]
  const options = { ...roundsFor(effort, { rounds: 5 }), say, title: 'session locks' }
  const { rows } = await compare(all, options)
  return all.map(({ kept }, index) => ({ ...kept, time: rows[index] ?? NEVER }))
}

const NEVER: SectionRow = { name: '', median: NaN, low: NaN, high: NaN }

interface KeeperTerms {
  readonly way: string
  readonly count: number
  readonly url: string
}

function keeperOf(name: string, { way, count, url }: KeeperTerms) {
  const kept = {
    name,
    count,
    connections: [] as number[],
    clientBytes: [] as number[],
    serverBytes: [] as number[],
  }
  const round = async (): Promise<number> => {
    const child = await startChild('session-locks/keeper.ts', [url, way, String(count)])
    const taken = JSON.parse(await child.ask('take')) as { tookMs: number; bytes: number }
    const { connections: used, bytes, locks } = await readBackends(url)
    if (locks !== count) throw new Error(`${name}: the server knows of ${locks} locks`)
    kept.connections.push(used)
    kept.clientBytes.push(taken.bytes)
    if (bytes !== undefined) kept.serverBytes.push(bytes)
    await child.ask('release')
    await child.end()
    return (taken.tookMs * 1000) / count
  }
  return { name, round, kept }
}

/** How many more than now the server accepts, with some left for others. */
async function freeConnections(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ free: number }>(
    "SELECT current_setting('max_connections')::int - (SELECT count(*)::int FROM pg_stat_activity) - 20 AS free",
  )
  await client.end()
  return rows[0]?.free ?? 1
}

function times(kept: readonly Kept[]): Section {
  return {
    title: 'time to take one',
    unit: 'us',
    isMoreBetter: false,
    rows: kept.map(({ time }) => time),
    goals: [],
  }
}

function connections(kept: readonly Kept[]): Section {
  const thousand = kept[0]
  return {
    title: 'connections that hold them',
    unit: 'connections',
    isMoreBetter: false,
    rows: kept.map((one) => figureRow(one.name, one.connections)),
    goals: [
      {
        what: `connections for ${thousand?.count} locks`,
        reached: quantile(thousand?.connections ?? [], 1),
        must: 4,
        isAtMost: true,
      },
    ],
    notes: ['A server that accepts 200 connections cannot give 1,000 of them.'],
  }
}

function memory(kept: readonly Kept[]): Section {
  return {
    title: 'memory of the server for each lock',
    unit: 'kB',
    isMoreBetter: false,
    rows: kept.map(({ name, count, serverBytes, clientBytes }) => ({
      ...figureRow(
        name,
        serverBytes.map((bytes) => bytes / 1024 / count),
      ),
      more: { 'client, kB': quantile(clientBytes, 0.5) / 1024 / count },
    })),
    goals: [],
    notes: [
      "What the server's processes have to themselves, by the kernel's count, and the heap of the client.",
    ],
  }
}

function figureRow(name: string, figures: readonly number[]): SectionRow {
  return {
    name,
    median: quantile(figures, 0.5),
    low: quantile(figures, 0.25),
    high: quantile(figures, 0.75),
  }
}
