import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'
import { together } from '../compare.ts'

/*
 * A process that holds many leases: `keeper.ts <url> <holdfast or hand-written> <how many> <ttlMs>`. Told `take`, it
 * takes them all; told `keep`, it keeps them for a third of their time, in which each is renewed once; told `release`,
 * it ends them. Answers with what that cost it.
 */

const [url = '', way = '', count = '', ttl = ''] = process.argv.slice(2)
const ttlMs = Number(ttl)
const pool = new pg.Pool({ connectionString: url, max: 8 })
const releases: (() => unknown)[] = []
const locks = createLocks(pool, { dialect: 'postgres' })

const takes: Readonly<Record<string, (name: string) => Promise<() => unknown>>> = {
  holdfast: async (name) => {
    const lease = await locks.lease(name, { ttlMs })
    return () => lease.release()
  },
  'hand-written': async (name) => {
    const claim = "INSERT INTO bench_lease VALUES ($1, 'me', clock_timestamp() + $2 * interval '1 ms')"
    await pool.query({ name: 'take', text: claim, values: [name, ttlMs] })
    const renew =
      "UPDATE bench_lease SET ends_at = clock_timestamp() + $2 * interval '1 ms' WHERE name = $1 AND owner = 'me'"
    const timer = setInterval(() => {
      void pool.query({ name: 'renew', text: renew, values: [name, ttlMs] })
    }, ttlMs / 3)
    return () => clearInterval(timer)
  },
}

async function take(): Promise<void> {
  let next = 0
  await together(16, async () => {
    while (next < Number(count)) {
      next += 1
      const end = await takes[way]?.(`kept ${next}`)
      if (end !== undefined) releases.push(end)
    }
  })
}

async function release(): Promise<void> {
  const all = releases.splice(0)
  await together(16, async () => {
    for (let end = all.pop(); end !== undefined; end = all.pop()) await end()
  })
}

const steps: Readonly<Record<string, () => Promise<unknown>>> = {
  take,
  keep: () => delay(ttlMs / 3),
  release,
}

for await (const line of createInterface({ input: process.stdin })) {
  globalThis.gc?.()
  const memory = process.memoryUsage().heapUsed
  const cpu = process.cpuUsage()
  const began = performance.now()
  await steps[line]?.()
  const { user, system } = process.cpuUsage(cpu)
  const tookMs = performance.now() - began
  globalThis.gc?.()
  const figures = { tookMs, cpuMs: (user + system) / 1000, memory: process.memoryUsage().heapUsed - memory }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}
await pool.end()
