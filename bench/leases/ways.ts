import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'

/** One who takes a lock and gives it back, with connections of its own. */
export interface Contender {
  /** Waits for the lock. Gives what releases it. */
  readonly take: (name: string, ttlMs?: number) => Promise<() => Promise<void>>
  readonly close: () => Promise<void>
}

/** The ways to the same thing, by the names that figures are shown under. */
export const ways: Readonly<Record<Way, (url: string, connections?: number) => Contender>> = {
  holdfast: byHoldfast,
  'holdfast in a transaction': byTransaction,
  polling: byPolling,
  'wake all': byWakingAll,
  native: byNativeLock,
}

export type Way = 'holdfast' | 'holdfast in a transaction' | 'polling' | 'wake all' | 'native'

/** Takes and releases a lock that nobody else wants: code that was run seldom is many times slower. */
export async function warmUp({ take }: Contender, cycles: number): Promise<void> {
  const name = `warm-up ${process.pid} ${randomUUID()}`
  for (let cycle = 0; cycle < cycles; cycle += 1) await (await take(name))()
}

function byHoldfast(url: string, connections?: number): Contender {
  const pool = poolOf(url, connections)
  const locks = createLocks(pool, { dialect: 'postgres' })
  return {
    take: async (name, ttlMs = 30_000) => {
      const lease = await locks.lease(name, { ttlMs })
      return () => lease.release()
    },
    close: () => pool.end(),
  }
}

/** A lock that a transaction holds, which ends with it. */
function byTransaction(url: string, connections?: number): Contender {
  const pool = poolOf(url, connections)
  const locks = createLocks(pool, { dialect: 'postgres' })
  return {
    take: (name) =>
      new Promise((granted, refused) => {
        const over: Promise<void> = locks.withLock(
          name,
          () => new Promise<void>((end) => granted(() => (end(), over))),
        )
        over.catch(refused)
      }),
    close: () => pool.end(),
  }
}

/** A lease as it is often written by hand: a row with an end, and a look at it every 100 ms. */
function byPolling(url: string): Contender {
  const pool = poolOf(url)
  return {
    take: async (name, ttlMs = 30_000) => {
      const owner = randomUUID()
      while (!(await insertLease(pool, { name, owner, ttlMs }))) await delay(100)
      return async () => void (await pool.query(deleteLease, [name, owner]))
    },
    close: () => pool.end(),
  }
}

/** The same, and every release wakes everybody who waits. */
function byWakingAll(url: string): Contender {
  const pool = poolOf(url)
  const ear = new pg.Client({ connectionString: url })
  let wake = (): void => {}
  ear.on('notification', () => wake())
  ear.on('error', () => {})
  const listening = ear.connect().then(() => ear.query('LISTEN bench_leases'))
  const attempt = async (lease: Claim): Promise<boolean> => {
    const woken = new Promise<void>((resolve) => (wake = resolve))
    if (await insertLease(pool, lease)) return true
    const timer = new AbortController()
    await Promise.race([woken, delay(500, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
    return false
  }
  return {
    take: async (name, ttlMs = 30_000) => {
      const owner = randomUUID()
      await listening
      while (!(await attempt({ name, owner, ttlMs })));
      return async () => {
        await pool.query(
          `WITH gone AS (${deleteLease} RETURNING 1) SELECT pg_notify('bench_leases', '') FROM gone`,
          [name, owner],
        )
      }
    },
    close: async () => {
      await ear.end()
      await pool.end()
    },
  }
}

/** A session's lock of the server itself: no time to live, no fence, and a connection for each who waits or holds. */
function byNativeLock(url: string, connections?: number): Contender {
  const pool = poolOf(url, connections)
  return {
    take: async (name) => {
      const client = await pool.connect()
      await client.query({ name: 'lock', text: 'SELECT pg_advisory_lock(hashtext($1))', values: [name] })
      return async () => {
        await client.query({
          name: 'unlock',
          text: 'SELECT pg_advisory_unlock(hashtext($1))',
          values: [name],
        })
        client.release()
      }
    },
    close: () => pool.end(),
  }
}

function poolOf(url: string, max = 4): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return pool
}

/** The table of the ways that are written by hand. */
export const benchTable =
  'CREATE TABLE IF NOT EXISTS bench_lease (name text PRIMARY KEY, owner text NOT NULL, ends_at timestamptz NOT NULL)'

interface Claim {
  readonly name: string
  readonly owner: string
  readonly ttlMs: number
}

async function insertLease(pool: pg.Pool, { name, owner, ttlMs }: Claim): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'take',
    text:
      "INSERT INTO bench_lease VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms') " +
      'ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, ends_at = excluded.ends_at ' +
      'WHERE bench_lease.ends_at <= clock_timestamp()',
    values: [name, owner, ttlMs],
  })
  return rowCount === 1
}

const deleteLease = 'DELETE FROM bench_lease WHERE name = $1 AND owner = $2'
