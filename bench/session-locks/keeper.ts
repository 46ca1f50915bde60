import { createInterface } from 'node:readline'
import pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'

/*
 * A process that holds many session locks: `keeper.ts <url> <holdfast or one each> <how many>`. Told `take`, it takes
 * them one after another; told `release`, it gives them back. Answers with what that cost it.
 */

const [url = '', way = '', count = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 20 })
const locks = createLocks(pool, { dialect: 'postgres' })
const ends: (() => Promise<unknown>)[] = []

const takes: Readonly<Record<string, (index: number) => Promise<() => Promise<unknown>>>> = {
  holdfast: async (index) => {
    const held = await locks.acquire(['kept', index])
    return () => held.release()
  },
  'one each': async (index) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('SELECT pg_advisory_lock($1)', [index])
    return () => client.end()
  },
}

async function take(): Promise<void> {
  for (let index = 0; index < Number(count); index += 1) {
    const end = await takes[way]?.(index)
    if (end !== undefined) ends.push(end)
  }
}

async function release(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
}

const steps: Readonly<Record<string, () => Promise<void>>> = { take, release }

await (await locks.acquire('first')).release() // loads what is loaded on demand

for await (const line of createInterface({ input: process.stdin })) {
  globalThis.gc?.()
  const memory = process.memoryUsage()
  const began = performance.now()
  await steps[line]?.()
  const tookMs = performance.now() - began
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  const bytes = heapUsed + external - memory.heapUsed - memory.external
  process.stdout.write(`${JSON.stringify({ tookMs, bytes })}\n`)
}
await pool.end()
