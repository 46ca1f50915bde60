import type { RaceResults } from '../../src/entries/race.ts'
import type { Run } from './stage.ts'

type Numbers = readonly (number | undefined)[]
type Work = (run: Run) => Promise<Numbers>

/** An anomaly as actors, each a transaction over the rows 1 => 10 and 2 => 20, and what shows that it happened. */
export interface Anomaly {
  readonly name: string
  readonly actors: Readonly<Record<string, Work>>
  /** Those that roll back on purpose. */
  readonly mayFail?: readonly string[]
  /** What the actors gave that committed, and the table afterwards. */
  readonly happened: (
    gave: Readonly<Record<string, Numbers | undefined>>,
    after: ReadonlyMap<number, number>,
  ) => boolean
}

const write = (run: Run, id: number, n: number): Promise<unknown> =>
  run(`UPDATE item SET n = ${n} WHERE id = ${id}`)
const read = async (run: Run, id: number): Promise<number | undefined> => {
  const [row] = await run(`SELECT n FROM item WHERE id = ${id}`)
  return row === undefined ? undefined : Number(row.n)
}
const many = async (run: Run, where: string): Promise<number> =>
  Number((await run(`SELECT COUNT(*) AS many FROM item WHERE ${where}`))[0]?.many)
const idsOf = async (run: Run, n: number): Promise<Numbers> =>
  (await run(`SELECT id FROM item WHERE n = ${n}`)).map(({ id }) => Number(id))

const writes =
  (...pairs: readonly (readonly [number, number])[]): Work =>
  async (run) => {
    for (const [id, n] of pairs) await write(run, id, n)
    return []
  }
const readsTwice =
  (...ids: readonly number[]): Work =>
  async (run) => {
    const seen: (number | undefined)[] = []
    for (const id of ids) seen.push(await read(run, id))
    return seen
  }
const increment: Work = async (run) => {
  const n = Number(await read(run, 1))
  await write(run, 1, n + 1)
  return [n]
}
const insertsIfNone =
  (id: number, n: number): Work =>
  async (run) => {
    const seen = await many(run, 'n % 3 = 0')
    await run(`INSERT INTO item VALUES (${id}, ${n})`)
    return [seen]
  }

/** Taken back by the actor itself. */
class Undone extends Error {}

/** Those that Hermitage tries, under its names; with what it calls a write predicate apart. */
export const anomalies: readonly Anomaly[] = [
  {
    name: 'G0',
    actors: { a: writes([1, 11], [2, 21]), b: writes([1, 12], [2, 22]) },
    happened: (_, after) => Number(after.get(2)) - Number(after.get(1)) !== 10,
  },
  {
    name: 'G1a',
    actors: {
      a: async (run) => {
        await write(run, 1, 101)
        throw new Undone()
      },
      b: readsTwice(1, 1),
    },
    mayFail: ['a'],
    happened: ({ b }) => b?.includes(101) === true,
  },
  {
    name: 'G1b',
    actors: { a: writes([1, 101], [1, 11]), b: readsTwice(1, 1) },
    happened: ({ b }) => b?.includes(101) === true,
  },
  {
    name: 'G1c',
    actors: {
      a: async (run) => (await write(run, 1, 11), [await read(run, 2)]),
      b: async (run) => (await write(run, 2, 22), [await read(run, 1)]),
    },
    happened: ({ a, b }) => a?.[0] === 22 && b?.[0] === 11,
  },
  {
    name: 'OTV',
    actors: { a: writes([1, 11], [2, 19]), b: writes([1, 12], [2, 18]), c: readsTwice(1, 2) },
    // what was seen of a transaction is gone; b was the last to write
    happened: ({ c }, after) =>
      after.get(1) === 12 && ((c?.[0] === 12 && c[1] === 19) || (c?.[0] === 11 && c[1] === 20)),
  },
  {
    name: 'PMP',
    actors: {
      a: async (run) => [await many(run, 'n = 30'), await many(run, 'n % 3 = 0')],
      b: async (run) => (await run('INSERT INTO item VALUES (3, 30)'), []),
    },
    happened: ({ a }) => a?.[0] === 0 && Number(a[1]) > 0,
  },
  {
    name: 'PMP, written',
    actors: {
      a: async (run) => (await run('UPDATE item SET n = n + 10'), []),
      b: async (run) => {
        const [seen] = await idsOf(run, 20)
        await run('DELETE FROM item WHERE n = 20')
        return [seen, ...(await idsOf(run, 20))]
      },
    },
    happened: ({ a, b }, after) =>
      a !== undefined && b !== undefined && (b.length > 1 || after.has(Number(b[0]))),
  },
  {
    name: 'P4',
    actors: { a: increment, b: increment },
    happened: ({ a, b }, after) => a !== undefined && b !== undefined && after.get(1) !== 12,
  },
  {
    name: 'G-single',
    actors: { a: readsTwice(1, 2), b: writes([1, 12], [2, 18]) },
    happened: ({ a }) => a?.[0] === 10 && a[1] === 18,
  },
  {
    name: 'G-single, written',
    actors: {
      a: async (run) => {
        const seen = await read(run, 1)
        await run('DELETE FROM item WHERE n = 20')
        return [seen, await read(run, 2)]
      },
      b: writes([1, 12], [2, 18]),
    },
    happened: ({ a }) => a?.[0] === 10 && a[1] !== undefined,
  },
  {
    name: 'G2-item',
    actors: {
      a: async (run) => [await read(run, 1), await read(run, 2), void (await write(run, 1, 11))],
      b: async (run) => [await read(run, 1), await read(run, 2), void (await write(run, 2, 21))],
    },
    happened: ({ a, b }) => a?.[1] === 20 && b?.[0] === 10,
  },
  {
    name: 'G2',
    actors: { a: insertsIfNone(3, 30), b: insertsIfNone(4, 42) },
    happened: ({ a, b }) => a?.[0] === 0 && b?.[0] === 0,
  },
]

/** What those gave that have ended well. */
export function gaveOf(results: RaceResults): Readonly<Record<string, Numbers | undefined>> {
  return Object.fromEntries(
    Object.entries(results).map(([name, result]) => [
      name,
      result.status === 'fulfilled' ? (result.value as Numbers) : undefined,
    ]),
  )
}
