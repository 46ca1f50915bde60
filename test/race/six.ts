import type { ExploreOptions, RaceResults } from '../../src/entries/race.ts'
import { fill, type Run, type Shop } from './stage.ts'

/** A race of the guides: two who do the same at once, without a lock and with it. */
export interface Six {
  readonly title: string
  readonly rows: Readonly<Record<number, number>>
  /** What the first and the second do without a lock. */
  readonly bare: (shop: Shop, me: 1 | 2) => Promise<unknown>
  readonly locked: (shop: Shop, me: 1 | 2) => Promise<unknown>
  /** Who waits for the lock waits in this process, which is not seen: only time tells. */
  readonly isUnseen?: true
  /** What is wrong afterwards; undefined when all is well. */
  readonly wrong: (
    rows: readonly Readonly<Record<string, number>>[],
    results: RaceResults,
  ) => string | undefined
}

const buy = async (run: Run, clause = ''): Promise<void> => {
  const [row] = await run(`SELECT n FROM item WHERE id = 1${clause}`)
  if (Number(row?.n) > 0) await run('UPDATE item SET n = n - 1 WHERE id = 1')
}
const upload = async (run: Run, me: number): Promise<void> => {
  const [row] = await run('SELECT COUNT(*) AS many FROM item')
  if (Number(row?.many) < 2) await run(`INSERT INTO item VALUES (${me + 10}, 0)`)
}
const goHome = async (run: Run, me: number, clause = ''): Promise<void> => {
  const rows = await run(`SELECT id FROM item WHERE n = 1${clause}`)
  if (rows.length > 1) await run(`UPDATE item SET n = 0 WHERE id = ${me}`)
}
const deposit = async (run: Run, clause = ''): Promise<void> => {
  const [row] = await run(`SELECT n FROM item WHERE id = 1${clause}`)
  await run(`UPDATE item SET n = ${Number(row?.n) + 5} WHERE id = 1`)
}
const claim = async (run: Run, clause = ''): Promise<unknown> => {
  const [row] = await run(`SELECT id FROM item WHERE n = 0 ORDER BY id LIMIT 1${clause}`)
  if (row !== undefined) await run(`UPDATE item SET n = 1 WHERE id = ${Number(row.id)}`)
  return row?.id
}

/** Those that exist wherever statements of two can come in any order. */
export const races: readonly Six[] = [
  {
    title: 'the last item is sold twice',
    rows: { 1: 1 },
    bare: ({ run }) => buy(run),
    locked: ({ transaction }) => transaction((run) => buy(run, ' FOR UPDATE')),
    wrong: ([row]) => (Number(row?.n) < 0 ? 'sold twice' : undefined),
  },
  {
    title: 'a quota is overrun, where there is nothing to lock',
    rows: { 1: 0 },
    bare: ({ run }, me) => upload(run, me),
    locked: ({ withLock }, me) => withLock((run) => upload(run, me)),
    isUnseen: true,
    wrong: (rows) => (rows.length > 2 ? 'one too many' : undefined),
  },
  {
    title: 'both doctors go home',
    rows: { 1: 1, 2: 1 },
    bare: ({ run }, me) => goHome(run, me),
    locked: ({ transaction }, me) => transaction((run) => goHome(run, me, ' FOR UPDATE')),
    wrong: (rows) => (rows.every(({ n }) => Number(n) === 0) ? 'nobody is on call' : undefined),
  },
  {
    title: 'an update is lost',
    rows: { 1: 0 },
    bare: ({ run }) => deposit(run),
    locked: ({ transaction }) => transaction((run) => deposit(run, ' FOR UPDATE')),
    wrong: ([row]) => (Number(row?.n) === 10 ? undefined : `${Number(row?.n)} and not 10`),
  },
  {
    title: 'a job is claimed twice',
    rows: { 1: 0, 2: 0 },
    bare: ({ run }) => claim(run),
    locked: ({ transaction }) => transaction((run) => claim(run, ' FOR UPDATE SKIP LOCKED')),
    wrong: (_, { a, b }) =>
      a?.status === 'fulfilled' && b?.status === 'fulfilled' && a.value === b.value
        ? 'the same job'
        : undefined,
  },
]

/** PostgreSQL takes the snapshot of REPEATABLE READ before it waits for the lock in the first statement. */
export const snapshotFirst: Six = {
  title: 'a quota is overrun although a lock is held, because the snapshot is older',
  rows: { 1: 0 },
  bare: ({ transaction }, me) =>
    transaction(async (run) => {
      await run('SELECT pg_advisory_xact_lock(7)')
      await upload(run, me)
    }, 'REPEATABLE READ'),
  locked: ({ withLock }, me) => withLock((run) => upload(run, me)),
  isUnseen: true,
  wrong: (rows) => (rows.length > 2 ? 'one too many' : undefined),
}

/** Where nobody waits for anything that is not seen: on a busy machine code may take its time. */
export const patient = { patienceMs: 60_000 } as const

/** One of them as the explorer takes it. */
export function raceOn(shop: Shop, race: Six, kind: 'bare' | 'locked'): ExploreOptions<'a' | 'b'> {
  const { rows, wrong, isUnseen = false, [kind]: work } = race
  return {
    db: shop.db,
    ...(kind === 'locked' && isUnseen ? { patienceMs: 100 } : patient),
    reset: () => fill(shop, rows),
    actors: { a: () => work(shop, 1), b: () => work(shop, 2) },
    invariant: async (results) => {
      const after = (await shop.run('SELECT id, n FROM item ORDER BY id')) as readonly Readonly<
        Record<string, number>
      >[]
      const words = wrong(after, results)
      if (words !== undefined) throw new Error(words)
    },
  }
}
