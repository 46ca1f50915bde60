import { explore } from '../../src/entries/race.ts'
import { fill, kyselyOnSqlite, mysqlShop, pgShop, type Shop } from '../../test/race/stage.ts'
import { compare, reachedBy, type Comparison, type Contestant } from '../compare.ts'
import { roundsFor } from '../effort.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'

/** Where schedules are run, and how many of them there have to be in a second. */
interface Place {
  readonly title: string
  /** Absent where the file needs no server. */
  readonly engine?: string
  readonly open: (url: string) => Promise<Shop>
  readonly must?: number
}

const places: readonly Place[] = [
  { title: 'PostgreSQL through pg', engine: 'postgres', open: pgShop, must: 50 },
  { title: 'MySQL through mysql2', engine: 'mysql', open: mysqlShop },
  { title: 'SQLite through Kysely', open: kyselyOnSqlite, must: 100 },
]

type Actor = (shop: Shop, me: number) => Promise<unknown>

const inTransaction =
  (row: (me: number) => number): Actor =>
  ({ transaction }, me) =>
    transaction(async (run) => {
      await run(`SELECT n FROM item WHERE id = ${row(me)}`)
      await run(`UPDATE item SET n = n + 1 WHERE id = ${row(me)}`)
    })

/** Four statements each. */
const actors: Readonly<Record<string, Actor>> = {
  'transactions on one row': inTransaction(() => 1),
  'transactions on two rows': inTransaction((me) => me),
  'statements without a transaction': async ({ run }, me) => {
    for (const by of [1, 2]) {
      await run(`SELECT n FROM item WHERE id = ${me}`)
      await run(`UPDATE item SET n = n + ${by} WHERE id = ${me}`)
    }
  },
}

const byHand = 'by hand, one after the other'

export const scenario: Scenario = {
  id: 'races',
  title: 'The schedules of two actors with four statements each',
  about: `
\`explore\` runs every schedule of two actors. Each is begun with two statements that reset the data, and ends with one that
checks them. Of transactions on one row one waits for the other, which is looked for on the server.

- **by hand**: the same statements, the actors one after the other: what the database alone costs.
`,
  run: async (bench) => {
    const sections: Section[] = []
    for (const place of places.filter(({ must }) => bench.effort !== 'quick' || must !== undefined)) {
      const server = place.engine === undefined ? { url: '' } : await bench.server(place.engine)
      if (server === undefined) continue
      const shop = await place.open(server.url)
      try {
        sections.push(bench.show(await measure(bench, place, shop)))
      } finally {
        await shop.close()
      }
    }
    return sections
  },
}

async function measure(bench: Bench, { title, must }: Place, shop: Shop): Promise<Section> {
  const names = Object.keys(actors)
  const explorers = names.map((name) => explored(shop, name))
  const contestants = bench.effort === 'quick' ? explorers : [...explorers, oneByOne(shop)]
  const comparison = await compare(contestants, {
    ...roundsFor(bench.effort, { rounds: 15, warmUp: 3 }),
    title,
    say: bench.say,
  })
  const goals = must === undefined ? [] : names.map((name) => goalOf(comparison, { title, name, must }))
  return { title, unit: 'schedules/s', isMoreBetter: true, rows: comparison.rows, goals }
}

function goalOf(
  { figures }: Comparison,
  { title, name, must }: { readonly title: string; readonly name: string; readonly must: number },
): Goal {
  return { what: `schedules a second on ${title}, ${name}`, ...reachedBy(figures.get(name) ?? []), must }
}

const reset = (shop: Shop): Promise<void> => fill(shop, { 1: 0, 2: 0 })
const check = (shop: Shop): Promise<unknown> => shop.run('SELECT id, n FROM item')

function explored(shop: Shop, name: string): Contestant {
  const work = actors[name]
  if (work === undefined) throw new Error(`nobody is called ${name}`)
  return {
    name,
    round: async () => {
      const before = performance.now()
      const { schedules, isComplete, failure } = await explore({
        db: shop.db,
        reset: () => reset(shop),
        actors: { a: () => work(shop, 1), b: () => work(shop, 2) },
        invariant: () => check(shop),
        // nobody waits for what is not seen, and a busy machine may be slow
        patienceMs: 60_000,
      })
      if (!isComplete || failure !== undefined)
        throw new Error(`${name}: ${failure?.reason ?? 'not complete'}`)
      return (schedules * 1000) / (performance.now() - before)
    },
  }
}

function oneByOne(shop: Shop): Contestant {
  const work = inTransaction((me) => me)
  const times = 20
  return {
    name: byHand,
    round: async () => {
      const before = performance.now()
      for (let time = 0; time < times; time += 1) {
        await reset(shop)
        await work(shop, 1)
        await work(shop, 2)
        await check(shop)
      }
      return (times * 1000) / (performance.now() - before)
    },
  }
}
