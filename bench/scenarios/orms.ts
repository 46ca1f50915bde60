import pg from 'pg'

import { postgresProtocol } from '../../test/wire/protocols.ts'
import { startProxy } from '../../test/wire/proxy.ts'
import { compare } from '../compare.ts'
import { startDelayProxy } from '../delay-proxy.ts'
import { accounts, schema } from '../orms/till.ts'
import { openTill, orms as known, ways } from '../orms/tills.ts'
import { quickWarmUp, roundsFor } from '../effort.ts'
import type { Bench, Scenario, Section } from '../scenario.ts'
import { libraryIn, publishedFolder } from '../transactions/library.ts'
import { withWays, type AskWay } from '../ways.ts'

const works = { withdraw: 'a row lock', upload: 'a named lock' } as const
type Work = keyof typeof works

/** A server runs for days: what counts is code that was run some thousand times, unless it waits most of the time. */
const near = { rounds: 21, warmUp: 15 }
const far = { rounds: 9, warmUp: 4 }

/** How often it is done in a round. */
const operations = {
  glimpse: { near: 4, far: 4 },
  quick: { near: 50, far: 8 },
  full: { near: 200, far: 40 },
} as const

export const orms: Scenario = {
  id: 'orms',
  title: 'The same transactions through an ORM',
  about:
    'Locks a row of 1,000 through the ORM, looks at it, updates it; or locks a name, reads, inserts. By hand it is what ' +
    'the ORM’s own docs show: `$transaction` with `$queryRaw ... FOR UPDATE`, `db.transaction` with `.for("update")`, ' +
    '`knex.transaction` with `.forUpdate()`, and `pg_advisory_xact_lock` for the name, with a limit for waiting as Holdfast ' +
    'sets it, and without one. The statements of the work are the same in every way. PostgreSQL, one worker, each way in a ' +
    'process of its own. Round trips are counted on the wire.',
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    await prepare(server.url)
    const trips = await countTrips(bench, server.url)
    const proxy = await startDelayProxy(server.url, 1)
    const places = [
      { where: 'direct', url: server.url, isFar: false },
      { where: '1 ms each way', url: proxy.url, isFar: true },
    ]
    const sections: Section[] = []
    try {
      // the last one has all that the first has
      for (const place of bench.effort === 'glimpse' ? places.slice(-1) : places)
        for (const orm of Object.keys(known))
          sections.push(
            ...(await measure(bench, { ...place, orm, trips, prepare: () => prepare(server.url) })),
          )
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

const folderFor = async ({ effort }: Bench): Promise<string> =>
  effort === 'glimpse' ? '' : (await publishedFolder()).href

/** By what is done, through which ORM, in which way. */
type Trips = ReadonlyMap<string, number>

async function countTrips(bench: Bench, url: string): Promise<Trips> {
  const library = await libraryIn(await folderFor(bench))
  const trips = new Map<string, number>()
  for (const orm of Object.keys(known))
    for (const way of Object.values(ways)) {
      const proxy = await startProxy(url, postgresProtocol)
      const till = openTill({ orm, way }, library, { url: proxy.url, connections: 1 })
      for (const work of ['withdraw', 'upload'] as const) {
        await till[work](1) // logs in, and asks the server once what it is
        trips.set(`${work} ${orm} ${way}`, (await proxy.during(() => till[work](1))).length)
      }
      await till.close()
      await proxy.close()
    }
  return trips
}

interface Measured {
  readonly where: string
  readonly url: string
  readonly isFar: boolean
  readonly orm: string
  readonly trips: Trips
  readonly prepare: () => Promise<void>
}

async function measure(bench: Bench, measured: Measured): Promise<readonly Section[]> {
  const { url, orm } = measured
  const folder = await folderFor(bench)
  const all = waysAt(bench).map((name) => ({ name, args: [url, orm, name, '1', folder] }))
  return withWays('orms/teller.ts', all, async (ask) => {
    const sections: Section[] = []
    for (const work of ['withdraw', 'upload'] as const) {
      await measured.prepare()
      // far away, most of the time is waiting
      const often = quickWarmUp / (measured.isFar ? 20 : 2)
      if (bench.effort === 'quick')
        await Promise.all(all.map(({ name }) => ask(name, `${work} ${often} ${accounts}`)))
      sections.push(bench.show(await section(bench, { ...measured, work }, ask)))
    }
    return sections
  })
}

/** Nothing is promised against whoever sets no limit. */
function waysAt({ effort }: Bench): readonly string[] {
  return Object.values(ways).filter((name) => effort !== 'quick' || name !== ways.unlimited)
}

async function section(
  bench: Bench,
  { where, isFar, orm, trips, work }: Measured & { readonly work: Work },
  ask: AskWay,
): Promise<Section> {
  const title = `${orm}, ${works[work]}, ${where}`
  const often = operations[bench.effort][isFar ? 'far' : 'near']
  const contestants = waysAt(bench).map((name) => ({
    name,
    round: () => ask(name, `${work} ${often} ${accounts}`),
    more: () => ({ 'round trips': trips.get(`${work} ${orm} ${name}`) ?? Number.NaN }),
  }))
  const rounds = roundsFor(bench.effort, isFar ? far : near)
  const { rows, ratio } = await compare(contestants, { ...rounds, say: bench.say, title })
  const goals = [
    { what: `Holdfast to by hand, ${title}`, ...ratio(ways.holdfast, ways.byHand), must: isFar ? 1.2 : 1 },
    { what: `pipeline: true to without, ${title}`, ...ratio(ways.riding, ways.holdfast), must: 1 },
  ]
  return { title, unit: 'tx/s', isMoreBetter: true, rows, goals }
}
