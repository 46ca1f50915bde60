import { randomUUID } from 'node:crypto'

import type pg from 'pg'

import { openPool } from '../pool.ts'
import { clearJobs, countReady, createJobTable, fillJobs } from './job-table.ts'
import { drainBy, type QueueSide } from './queue-side.ts'

/** The names of the two sides, as goals and sections speak of them. */
export const byHand = {
  claimed: 'by hand, claim in four statements',
  held: 'by hand, transaction held',
} as const

interface ByHandOptions {
  readonly url: string
  readonly maxWorkers: number
  readonly form: keyof typeof byHand
  readonly table?: string
}

/**
 * What is written most often: begin, pick, change, commit.
 *
 * `claimed` writes down who has the job and until when, as Holdfast does, and completes it with a fifth statement.
 * `held` keeps the transaction open instead, and completes the job in it.
 */
export function byHandSide({ url, maxWorkers, form, table = `hand_${form}_job` }: ByHandOptions): QueueSide {
  const pool = openPool(url, maxWorkers)
  const take = form === 'claimed' ? claimAndComplete : holdAndComplete
  let before = 0
  return {
    name: byHand[form],
    open: async (finished) => {
      before = finished
      await createJobTable(pool, table, finished)
    },
    fill: (jobs) => fillJobs(pool, table, jobs),
    drain: ({ workers, batch, jobs }) => drainBy({ workers, jobs }, () => take(pool, table, batch)),
    left: () => countReady(pool, table),
    clear: () => clearJobs(pool, table, before),
    close: async () => {
      await pool.query(`DROP TABLE ${table}`)
      await pool.end()
    },
  }
}

type Ids = readonly string[]

async function holdAndComplete(pool: pg.Pool, table: string, batch: number): Promise<number> {
  const ids = await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT * FROM ${table} WHERE state = 'ready' ORDER BY priority DESC, id LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [batch],
    )
    const picked = rows.map(({ id }) => id)
    if (picked.length > 0)
      await client.query(`UPDATE ${table} SET state = 'done' WHERE id = ANY($1)`, [picked])
    return picked
  })
  return ids.length
}

async function claimAndComplete(pool: pg.Pool, table: string, batch: number): Promise<number> {
  const token = randomUUID()
  const ids = await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT * FROM ${table} WHERE state = 'ready' AND (claimed_until IS NULL OR claimed_until <= $2)
       ORDER BY priority DESC, id LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [batch, Date.now()],
    )
    const picked = rows.map(({ id }) => id)
    if (picked.length > 0) {
      await client.query(
        `UPDATE ${table} SET claim_token = $2, claimed_until = $3, claimed_by = $4, attempts = attempts + 1
         WHERE id = ANY($1)`,
        [picked, token, Date.now() + 30_000, 'bench'],
      )
    }
    return picked
  })
  if (ids.length > 0) {
    await pool.query(
      `UPDATE ${table} SET state = 'done', claim_token = NULL, claimed_until = NULL
       WHERE id = ANY($1) AND claim_token = $2`,
      [ids, token],
    )
  }
  return ids.length
}

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Ids>): Promise<Ids> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const ids = await work(client)
    await client.query('COMMIT')
    client.release()
    return ids
  } catch (error) {
    client.release(true)
    throw error
  }
}
