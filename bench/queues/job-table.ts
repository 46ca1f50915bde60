import type pg from 'pg'

import { queue } from '../../src/entries/pg.ts'
import type { Queue } from '../../src/locks/queue/queue-definition.ts'

/** The table that the hand-written code and Holdfast have, each its own. */
export interface JobRow {
  readonly id: string
  readonly priority: number
  readonly payload: unknown
  readonly state: string
  readonly claim_token: string | null
  readonly claimed_until: string | null
  readonly claimed_by: string | null
  readonly attempts: number
}

export function jobQueue(table: string, done: 'set' | 'delete'): Queue<JobRow> {
  return queue<JobRow>({
    table,
    id: 'id',
    orderBy: [{ column: 'priority', direction: 'desc' }],
    where: { state: 'ready' },
    claim: { token: 'claim_token', until: 'claimed_until', worker: 'claimed_by', attempts: 'attempts' },
    done: done === 'delete' ? 'delete' : { set: { state: 'done' } },
  })
}

/** Autovacuum would come in the middle of somebody's round: it is off, and `clear` does its work between rounds. */
export async function createJobTable(pool: pg.Pool, table: string, finished: number): Promise<void> {
  await pool.query(`CREATE TABLE ${table} (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, priority INTEGER NOT NULL DEFAULT 0, payload JSONB NOT NULL,
    state TEXT NOT NULL DEFAULT 'ready', claim_token TEXT, claimed_until BIGINT, claimed_by TEXT,
    attempts INTEGER NOT NULL DEFAULT 0) WITH (fillfactor = 50, autovacuum_enabled = off)`)
  await pool.query(`CREATE INDEX ${table}_claim ON ${table} (priority DESC, id) WHERE state = 'ready'`)
  await pool.query(`INSERT INTO ${table} (payload, state) SELECT '{"to":"a@b.c"}', 'done'
    FROM generate_series(1, ${finished})`)
  await pool.query(`VACUUM (ANALYZE) ${table}`)
}

export async function fillJobs(pool: pg.Pool, table: string, jobs: number): Promise<void> {
  await pool.query(`INSERT INTO ${table} (payload, priority) SELECT '{"to":"a@b.c"}', n % 7
    FROM generate_series(1, ${jobs}) AS n`)
  await pool.query(`VACUUM (ANALYZE) ${table}`)
}

export async function countReady(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ n: string }>(`SELECT count(*) AS n FROM ${table} WHERE state = 'ready'`)
  return Number(rows[0]?.n)
}

/** The jobs that were done before the first round have the lowest ids. */
export async function clearJobs(pool: pg.Pool, table: string, finished: number): Promise<void> {
  await pool.query(`DELETE FROM ${table} WHERE id > ${finished}`)
  await pool.query(`VACUUM ${table}`)
}
