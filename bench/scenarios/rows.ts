import { compare, type Comparison } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import { quickWarmUp, roundsFor } from '../effort.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'
import { publishedFolder } from '../transactions/library.ts'
import type { StockEngine } from '../transactions/stock-shop.ts'
import { articles, names, stockUp, waysOn } from '../transactions/stocks.ts'
import { withWays } from '../ways.ts'

const engines: readonly StockEngine[] = ['postgres', 'mysql', 'mariadb']

interface Situation {
  readonly title: string
  readonly workers: number
  readonly rows: number
}

const situations: readonly Situation[] = [
  { title: '1 worker', workers: 1, rows: articles },
  { title: '16 workers, 1 row', workers: 16, rows: 1 },
  { title: '16 workers, 1,000 rows', workers: 16, rows: articles },
]

export const rows: Scenario = {
  id: 'rows',
  title: 'A transaction that locks a row',
  about:
    'Sells one piece of an article: begin, lock and read its row, check, update, commit. On PostgreSQL with a lock timeout, ' +
    'which by hand is one more round trip; on MySQL and MariaDB both ways send the same five statements. Each way runs in a ' +
    'process of its own, as an application would, with as many connections as there are workers.',
  run: async (bench) => {
    const sections: Section[] = []
    for (const engine of engines) {
      const server = await bench.server(engine)
      if (server === undefined) continue
      const proxy = await startDelayProxy(server.url, 1)
      const addresses = [
        { where: `${engine}, direct`, url: server.url, isFar: false },
        { where: `${engine}, 1 ms each way`, url: proxy.url, isFar: true },
      ]
      try {
        // the last one has all that the first has
        for (const address of bench.effort === 'glimpse' ? addresses.slice(-1) : addresses) {
          // far away, nothing is promised but of pipelining
          if (bench.effort === 'quick' && promisesOf(engine, address).length === 0) continue
          const prepare = (): Promise<void> => stockUp(engine, server.url)
          sections.push(...(await measureAt(bench, engine, { ...address, prepare })))
        }
      } finally {
        await proxy.close()
      }
    }
    return sections
  },
}

interface Address {
  readonly where: string
  readonly url: string
  readonly isFar: boolean
  readonly prepare: () => Promise<void>
}

async function measureAt(bench: Bench, engine: StockEngine, address: Address): Promise<readonly Section[]> {
  const folder = bench.effort === 'glimpse' ? '' : (await publishedFolder()).href
  const connections = Math.max(...situations.map(({ workers }) => workers))
  const promised = promisesOf(engine, address)
  const asked = new Set(promised.flatMap(({ way, than }) => [way, than]))
  const all = waysOn(engine).filter((name) => bench.effort !== 'quick' || asked.has(name))
  const ways = all.map((name) => ({
    name,
    args: [engine, address.url, name, String(connections), folder],
  }))
  return withWays('transactions/seller.ts', ways, async (ask) => {
    const sections: Section[] = []
    await address.prepare()
    if (bench.effort === 'quick')
      await Promise.all(ways.map(({ name }) => ask(name, `16 ${quickWarmUp} ${articles}`)))
    for (const situation of situations) {
      await address.prepare()
      const { workers, rows: spread } = situation
      const operations = operationsOf(bench, address, workers)
      const contestants = ways.map(({ name }) => ({
        name,
        round: () => ask(name, `${workers} ${operations} ${spread}`),
      }))
      const title = `${address.where}, ${situation.title}`
      const rounds = roundsFor(bench.effort, address.isFar ? far : near)
      const comparison = await compare(contestants, { ...rounds, say: bench.say, title })
      const goals = goalsOf(comparison, title, promised)
      const { rows: figures } = comparison
      sections.push(bench.show({ title, unit: 'tx/s', isMoreBetter: true, rows: figures, goals }))
    }
    return sections
  })
}

/** A server runs for days: what counts is code that was run some thousand times. */
const near = { rounds: 21, warmUp: 15 }
const far = { rounds: 7, warmUp: 2 }

/** How often each sells in a round. */
function operationsOf({ effort }: Bench, { isFar }: Address, workers: number): number {
  if (effort === 'glimpse') return 16
  if (effort === 'quick') return isFar ? 8 * Math.sqrt(workers) : 50
  return Math.ceil((isFar ? 50 : 200) * Math.sqrt(workers))
}

/** How many times as fast a way has to be as another, in every situation. */
interface Promised {
  readonly way: string
  readonly than: string
  readonly must: number
}

function promisesOf(engine: StockEngine, { isFar }: Pick<Address, 'isFar'>): readonly Promised[] {
  const all: readonly Promised[] = [
    { way: names.riding, than: names.holdfast, must: 1 },
    ...(isFar
      ? []
      : [
          { way: names.holdfast, than: names.byHand, must: engine === 'postgres' ? 1.05 : 1 },
          { way: names.connector, than: names.connectorByHand, must: 1 },
          { way: names.kysely, than: names.kyselyByHand, must: 0.95 },
        ]),
  ]
  const there = waysOn(engine)
  return all.filter(({ way }) => there.includes(way))
}

function goalsOf({ ratio }: Comparison, title: string, promised: readonly Promised[]): readonly Goal[] {
  return promised.map(({ way, than, must }) => ({
    what: `${way} against ${than}, ${title}`,
    ...ratio(way, than),
    must,
  }))
}
