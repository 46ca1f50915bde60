import { compare } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import type { Bench, Scenario, Section } from '../scenario.ts'
import { publishedFolder } from '../transactions/library.ts'
import { articles, stockUp, waysOn, type StockEngine } from '../transactions/stocks.ts'
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
        for (const address of bench.isQuick ? addresses.slice(-1) : addresses) {
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
  const folder = bench.isQuick ? '' : (await publishedFolder()).href
  const connections = Math.max(...situations.map(({ workers }) => workers))
  const ways = waysOn(engine).map((name) => ({
    name,
    args: [engine, address.url, name, String(connections), folder],
  }))
  return withWays('transactions/seller.ts', ways, async (ask) => {
    const sections: Section[] = []
    for (const situation of situations) {
      await address.prepare()
      const { workers, rows: spread } = situation
      const operations = bench.isQuick ? 16 : Math.ceil((address.isFar ? 50 : 200) * Math.sqrt(workers))
      const contestants = ways.map(({ name }) => ({
        name,
        round: () => ask(name, `${workers} ${operations} ${spread}`),
      }))
      const title = `${address.where}, ${situation.title}`
      const comparison = await compare(contestants, { ...roundsOf(bench, address), say: bench.say, title })
      sections.push({ title, unit: 'tx/s', isMoreBetter: true, rows: comparison.rows, goals: [] })
    }
    return sections
  })
}

/** A server runs for days: what counts is code that was run some thousand times. */
function roundsOf(
  { isQuick }: Bench,
  { isFar }: Address,
): { readonly rounds: number; readonly warmUp: number } {
  if (isQuick) return { rounds: 1, warmUp: 0 }
  return isFar ? { rounds: 7, warmUp: 2 } : { rounds: 21, warmUp: 15 }
}
