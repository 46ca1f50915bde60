import { createLocks } from '../../src/entries/pg.ts'
import { benchTable } from '../leases/ways.ts'
import { openPool } from '../pool.ts'
import { jobs } from '../scale/jobs.ts'
import { keys } from '../scale/keys.ts'
import { heldLeases } from '../scale/leases.ts'
import { waiters } from '../scale/waiters.ts'
import type { Bench, Scenario } from '../scenario.ts'

interface Sizes {
  readonly keys: readonly number[]
  readonly jobs: readonly number[]
  readonly waiters: readonly number[]
  readonly leases: readonly number[]
  readonly processes: number
  readonly ttlMs: number
}

/** Quickly, only the two ends of each curve. */
const sizes: Readonly<Record<Bench['effort'], Sizes>> = {
  glimpse: { keys: [2, 20], jobs: [20, 100], waiters: [8], leases: [5], processes: 2, ttlMs: 1500 },
  quick: { keys: [10, 1000], jobs: [1000, 20_000], waiters: [50, 1000], leases: [], processes: 0, ttlMs: 0 },
  full: {
    keys: [10, 100, 1000],
    jobs: [1000, 10_000, 100_000],
    waiters: [50, 500, 5000],
    leases: [100, 1000, 10_000],
    processes: 50,
    ttlMs: 30_000,
  },
}

export const scenario: Scenario = {
  id: 'scale',
  title: 'What one of many costs',
  about: `
What one operation costs on PostgreSQL, the more there is of it: keys of one \`withLocks\`, jobs that wait in a queue with 64
workers, waiters for one lock, leases that one process holds. What grows with their number rises from row to row.

- **Holdfast**: \`withLocks\`; \`claim\` and \`complete\`; \`lease\` and \`withLock\`.
- **by hand**: \`pg_advisory_xact_lock\` key by key; a claim in four statements; \`pg_advisory_lock\` on a connection of the pool;
  a timer and an UPDATE for each lease. **pg-boss**: \`fetch\` and \`complete\`.
`.trim(),
  run: async (bench) => {
    const server = await bench.server('postgres')
    if (server === undefined) return []
    const { url } = server
    await prepare(url)
    const { processes, ttlMs, ...counts } = sizes[bench.effort]
    const sections = [
      await keys(bench, url, counts.keys),
      await jobs(bench, url, counts.jobs),
      await waiters(bench, url, { counts: counts.waiters, processes: 1, connections: 10 }),
    ]
    if (processes > 0)
      sections.push(await waiters(bench, url, { counts: counts.waiters, processes, connections: 3 }))
    if (counts.leases.length > 0)
      sections.push(await heldLeases(bench, url, { counts: counts.leases, ttlMs }))
    return sections
  },
}

async function prepare(url: string): Promise<void> {
  const pool = openPool(url, 1)
  await pool.query(benchTable)
  await (await createLocks(pool, { dialect: 'postgres' }).lease('first')).release() // makes the table
  await pool.end()
}
