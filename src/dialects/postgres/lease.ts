import {
  leaseAnswers,
  type LeaseClaim,
  type LeaseHeld,
  type LeaseHolder,
  type LeaseStatements,
} from '../lease.ts'
import type { SqlStatement } from '../../core/statement.ts'
import { sql } from '../sql.ts'

/** `now()` is when the transaction began; this is now. */
export const nowMs = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

const topic = 'holdfast_leases'

/**
 * IF NOT EXISTS is not enough: of two sessions that create one table at a time, one fails on the catalog's own index.
 * And it asks for the right to create before it looks, which a role of an application may not have.
 */
const table = sql(
  "DO $$ BEGIN IF to_regclass('_leases') IS NULL THEN CREATE TABLE _leases (name varchar(64) PRIMARY KEY, " +
    'owner varchar(128), fence bigint NOT NULL, expires_at bigint NOT NULL); END IF; ' +
    'EXCEPTION WHEN duplicate_table OR duplicate_object OR unique_violation THEN NULL; END $$',
)

const isHeld = 'name = $1 AND owner = $2 AND fence = $3::bigint'
const isOwned = 'name = $1 AND owner = $2 AND fence = coalesce($3::bigint, fence)'

/**
 * A lease that is seen to be held is left alone: no lock is taken, and a fenced transaction makes nobody wait.
 *
 * That `name` is assigned makes ON CONFLICT lock the row as FOR UPDATE does, the only mode that meets the guard's
 * FOR KEY SHARE. The row is then looked at once more, as it is when the lock is granted.
 */
function acquire({ name, owner, ttlMs }: LeaseClaim): SqlStatement {
  return {
    sql:
      'INSERT INTO _leases (name, owner, fence, expires_at) ' +
      `SELECT $1::varchar, $2::varchar, ${nowMs}, ${nowMs} + $3::bigint ` +
      `WHERE NOT EXISTS (SELECT 1 FROM _leases WHERE name = $1 AND expires_at > ${nowMs}) ` +
      'ON CONFLICT (name) DO UPDATE SET name = excluded.name, owner = excluded.owner, ' +
      `fence = greatest(_leases.fence + 1, ${nowMs}), expires_at = ${nowMs} + $3::bigint ` +
      `WHERE _leases.expires_at <= ${nowMs} RETURNING 1 AS answer, fence`,
    params: [name, owner, ttlMs],
    answers: leaseAnswers.taken,
  }
}

function renew({ name, owner, fence }: LeaseHeld, ttlMs: number): SqlStatement {
  return {
    sql: `UPDATE _leases SET expires_at = ${nowMs} + $4::bigint WHERE ${isHeld} RETURNING 1 AS answer`,
    params: [name, owner, fence, ttlMs],
    answers: leaseAnswers.held,
  }
}

function release({ name, owner, fence }: LeaseHolder, holdMs: number): SqlStatement {
  return {
    sql:
      `WITH released AS (UPDATE _leases SET owner = NULL, expires_at = ${nowMs} + $4::bigint ` +
      `WHERE ${isOwned} RETURNING name) SELECT 1 AS answer, pg_notify('${topic}', name) FROM released`,
    params: [name, owner, fence ?? null, holdMs],
    answers: leaseAnswers.released,
  }
}

/** Lets renewals through, which change no key, and keeps out a takeover, which locks the row as if it did. */
function guard({ name, owner, fence }: LeaseHeld): SqlStatement {
  return {
    sql: `SELECT 1 AS answer FROM _leases WHERE ${isHeld} FOR KEY SHARE`,
    params: [name, owner, fence],
    answers: leaseAnswers.held,
  }
}

export const lease: LeaseStatements = {
  schema: [table],
  acquire: (claim) => [acquire(claim)],
  renew: (held, ttlMs) => [renew(held, ttlMs)],
  release: (held, holdMs) => [release(held, holdMs)],
  guard,
  topic,
}
