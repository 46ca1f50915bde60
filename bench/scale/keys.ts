import type pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'
import { openPool } from '../pool.ts'
import type { Bench, Section } from '../scenario.ts'
import { curveOf } from './curve.ts'

/** Many names at once in one transaction. */
export async function keys(bench: Bench, url: string, counts: readonly number[]): Promise<Section> {
  const pool = openPool(url, 1)
  const locks = createLocks(pool, { dialect: 'postgres' })
  const ways: Readonly<Record<string, (names: readonly string[]) => Promise<void>>> = {
    Holdfast: (names) => locks.withLocks(names, async () => {}),
    'by hand': (names) => oneByOne(pool, names),
  }
  const points = Object.entries(ways).flatMap(([way, run]) =>
    counts.map((count) => ({ way, count, cost: () => perKey(count, run) })),
  )
  try {
    return await curveOf(bench, { title: 'a key of withLocks', unit: 'us', points, rounds: 9 })
  } finally {
    await pool.end()
  }
}

async function perKey(count: number, run: (names: readonly string[]) => Promise<void>): Promise<number> {
  const names = Array.from({ length: count }, (_, index) => `key ${index}`)
  const turns = Math.ceil(2000 / count)
  const began = performance.now()
  for (let turn = 0; turn < turns; turn += 1) await run(names)
  return ((performance.now() - began) * 1000) / (turns * count)
}

async function oneByOne(pool: pg.Pool, names: readonly string[]): Promise<void> {
  const client = await pool.connect()
  await client.query('BEGIN')
  for (const name of names)
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
  await client.query('COMMIT')
  client.release()
}
