import pg from 'pg'

import { shortCount } from '../figures.ts'
import type { Bench, Goal, Scenario, Section } from '../scenario.ts'
import { publishedFolder } from '../transactions/library.ts'
import { withWays } from '../ways.ts'

const program = 'memory-child.ts'

/** At which part of all transactions the heap is looked at. The first of them is when all is compiled and every cache is full. */
const looks = [0.1, 0.2, 0.5, 1] as const

/** A byte for every ten transactions would be more. */
const mostGrowth = 1.1

interface Course {
  /** What the program calls it. */
  readonly way: string
  readonly name: string
  readonly count: number
}

export const memory: Scenario = {
  id: 'memory',
  title: 'What stays in memory',
  about:
    'The heap of a process after so many transactions, when all is collected that nobody can reach: each takes a named ' +
    'lock, and under it a row lock. Keys are one of a thousand, or another one each time; whoever keeps something of each key, ' +
    'statement or transaction shows here. SQLite is in the memory of the process, outside of what is counted, and fast ' +
    'enough for ten million; through `pg` there are fewer.',
  run: async (bench) => {
    // the first ones of a process show only what it compiles
    if (bench.effort === 'quick') return []
    const server = await bench.server('postgres')
    if (server !== undefined) await prepare(server.url)
    const folder = bench.effort === 'glimpse' ? '' : (await publishedFolder()).href
    return [await heapSection(bench, { url: server?.url, folder })]
  },
}

async function prepare(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table if not exists room (id int primary key)')
  await client.query('insert into room (id) values (1) on conflict do nothing')
  await client.end()
}

function coursesOf({ effort }: Bench, hasPostgres: boolean): readonly Course[] {
  const [onSqlite, onPg] = effort === 'full' ? [10_000_000, 1_000_000] : [40, 20]
  const sqlite = [
    { way: 'sqlite', name: 'better-sqlite3', count: onSqlite },
    { way: 'sqlite, new key', name: 'better-sqlite3, a new key each time', count: onSqlite },
  ]
  if (!hasPostgres) return sqlite
  return [
    ...sqlite,
    { way: 'pg', name: 'pg', count: onPg },
    { way: 'pg, new key', name: 'pg, a new key each time', count: onPg },
  ]
}

async function heapSection(
  bench: Bench,
  { url, folder }: { readonly url: string | undefined; readonly folder: string },
): Promise<Section> {
  const courses = coursesOf(bench, url !== undefined)
  const started = courses.map(({ way }) => ({ name: way, args: [way, url ?? '', folder] }))
  const curves = await withWays(program, started, (ask) =>
    Promise.all(
      courses.map(async (course) => {
        const points: Point[] = []
        let done = 0
        for (const part of looks) {
          const count = Math.round(course.count * part)
          const megabytes = (await ask(course.way, String(count - done))) / 1e6
          done = count
          points.push({ count, megabytes })
          bench.say(`memory: ${course.name}, ${shortCount(count)}: ${megabytes.toFixed(2)} MB`)
        }
        return { course, points }
      }),
    ),
  )
  return bench.show({
    title: 'the heap after so many transactions',
    unit: 'MB',
    isMoreBetter: false,
    rows: curves.flatMap(({ course, points }) =>
      points.map(({ count, megabytes }) => ({
        name: `${course.name}, ${shortCount(count)}`,
        median: megabytes,
        low: megabytes,
        high: megabytes,
      })),
    ),
    goals: curves.map(({ course, points }) => growthOf(course, points)),
  })
}

interface Point {
  readonly count: number
  readonly megabytes: number
}

function growthOf({ name }: Course, points: readonly Point[]): Goal {
  const [first, last] = [points[0], points.at(-1)]
  const counts = [last, first].map((point) => shortCount(point?.count ?? 0)).join(' to ')
  return {
    what: `heap, ${name}: ${counts}`,
    reached: (last?.megabytes ?? NaN) / (first?.megabytes ?? NaN),
    must: mostGrowth,
    isAtMost: true,
  }
}
