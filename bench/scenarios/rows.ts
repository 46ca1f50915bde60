import { compare, perSecond } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import type { Bench, Scenario, Section } from '../scenario.ts'
import { publishedLibrary, sourceLibrary } from '../transactions/library.ts'
import { articles, shops, stockUp, type Place, type StockEngine } from '../transactions/stocks.ts'

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
    'which by hand is one more round trip; on MySQL and MariaDB both ways send the same five statements.',
  run: async (bench) => {
    const sections: Section[] = []
    for (const engine of engines) {
      const server = await bench.server(engine)
      if (server === undefined) continue
      const proxy = await startDelayProxy(server.url, 1)
      const ways = [
        ['direct', server.url],
        ['1 ms each way', proxy.url],
      ] as const
      try {
        for (const [title, url] of ways) {
          for (const situation of situations) {
            const place = { engine, url, connections: situation.workers }
            await stockUp({ ...place, url: server.url })
            sections.push(
              await measure(bench, {
                isFar: url === proxy.url,
                place,
                situation,
                title: `${engine}, ${title}`,
              }),
            )
          }
        }
      } finally {
        await proxy.close()
      }
    }
    return sections
  },
}

interface Measured {
  readonly isFar: boolean
  readonly place: Place
  readonly situation: Situation
  readonly title: string
}

async function measure(bench: Bench, { isFar, place, situation, title: where }: Measured): Promise<Section> {
  const library = await (bench.isQuick ? sourceLibrary() : publishedLibrary())
  const all = shops(library, place)
  const { workers, rows: spread } = situation
  const operations = bench.isQuick ? 16 : Math.ceil((isFar ? 50 : 200) * Math.sqrt(workers))
  const title = `${where}, ${situation.title}`
  // a server runs for days: what counts is code that was run some thousand times
  const warmUp = bench.isQuick ? 0 : isFar ? 2 : 15
  const contestants = all.map(({ name, sell }) => ({
    name,
    round: () => perSecond({ workers, operations }, (_, operation) => sell(operation % spread)),
  }))
  const options = { rounds: bench.isQuick ? 1 : 7, warmUp, say: bench.say, title }
  try {
    const comparison = await compare(contestants, options)
    return { title, unit: 'tx/s', isMoreBetter: true, rows: comparison.rows, goals: [] }
  } finally {
    for (const shop of all) await shop.close()
  }
}
