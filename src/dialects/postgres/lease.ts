import {
  leaseAnswers,
  type LeaseClaim,
  type LeaseHeld,
  type LeaseHolder,
  type LeaseRenewal,
  type LeaseStatements,
} from '../lease.ts'
import type { SqlStatement } from '../../core/statement.ts'
import { lookAtLeases } from '../lease-look.ts'
import { sql } from '../sql.ts'
import { syntax } from './syntax.ts'

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
 * FOR KEY SHARE. The row is then looked at once more, as it is when the lock is granted. Whoever does not wait locks it
 * before, since ON CONFLICT has no NOWAIT.
 */
function acquire({ name, owner, ttlMs, news, isNowait = false }: LeaseClaim): SqlStatement {
  const told = [news?.busy, news?.granted].filter((text) => text !== undefined)
  const tell = (text: string | undefined): string =>
    text === undefined ? 'NULL::text' : `pg_notify('${topic}', $${4 + told.indexOf(text)})::text`
  const [locked, isLocked] = isNowait ? lockedNow : ['', '']
  return {
    sql:
      `WITH seen AS (SELECT expires_at - ${nowMs} AS left_ms FROM _leases ` +
      `WHERE name = $1 AND expires_at > ${nowMs}), ` +
      `${locked}taken AS (INSERT INTO _leases (name, owner, fence, expires_at) ` +
      `SELECT $1::varchar, $2::varchar, ${nowMs}, ${nowMs} + $3::bigint WHERE NOT EXISTS (SELECT 1 FROM seen)${isLocked} ` +
      'ON CONFLICT (name) DO UPDATE SET name = excluded.name, owner = excluded.owner, ' +
      `fence = greatest(_leases.fence + 1, ${nowMs}), expires_at = ${nowMs} + $3::bigint ` +
      `WHERE _leases.expires_at <= ${nowMs} RETURNING fence) ` +
      `SELECT 1 AS answer, fence, NULL::bigint AS left_ms, ${tell(news?.granted)} FROM taken ` +
      `UNION ALL SELECT 0, NULL, left_ms, ${tell(news?.busy)} FROM seen`,
    params: [name, owner, ttlMs, ...told],
    answers: { column: 'answer', meaning: { 1: 'granted', 0: 'busy', none: 'busy' } },
    isPrepared: true,
  }
}

/** Another part of the statement, and the condition that makes the server run it first. */
const lockedNow = [
  'locked AS (SELECT 1 FROM _leases WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM seen) FOR UPDATE NOWAIT), ',
  ' AND (SELECT count(*) FROM locked) >= 0',
] as const

function renew({ name, owner, fence }: LeaseHeld, ttlMs: number): SqlStatement {
  return {
    sql: `UPDATE _leases SET expires_at = ${nowMs} + $4::bigint WHERE ${isHeld} RETURNING 1 AS answer`,
    params: [name, owner, fence, ttlMs],
    answers: leaseAnswers.held,
    isPrepared: true,
  }
}

/** A row that somebody has locked is left out, so that one does not hold up all the others. */
function renewAll(renewals: readonly LeaseRenewal[]): SqlStatement {
  const due = renewals.map(({ held: { name, owner, fence }, ttlMs }) => ({ name, owner, fence, ttl: ttlMs }))
  return {
    sql:
      'WITH due AS (SELECT held.name, asked.ttl FROM json_to_recordset($1::json) ' +
      'AS asked(name varchar, owner varchar, fence bigint, ttl bigint) JOIN _leases held USING (name, owner, fence) ' +
      'FOR NO KEY UPDATE OF held SKIP LOCKED) ' +
      `UPDATE _leases SET expires_at = ${nowMs} + due.ttl FROM due WHERE _leases.name = due.name ` +
      'RETURNING 1 AS answer, owner',
    params: [JSON.stringify(due)],
    answers: { column: 'answer', meaning: { 1: 'granted', none: 'granted' } },
    isPrepared: true,
  }
}

function release({ name, owner, fence }: LeaseHolder, holdMs: number, news: string): SqlStatement {
  return {
    sql:
      `UPDATE _leases SET owner = NULL, expires_at = ${nowMs} + $4::bigint ` +
      `WHERE ${isOwned} RETURNING 1 AS answer, pg_notify('${topic}', $5)`,
    params: [name, owner, fence ?? null, holdMs, news],
    answers: leaseAnswers.released,
    isPrepared: true,
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

function admit(name: string, fence: number): SqlStatement {
  return {
    sql:
      'INSERT INTO _leases (name, fence, expires_at) VALUES ($1, $2::bigint, 0) ON CONFLICT (name) ' +
      'DO UPDATE SET fence = excluded.fence WHERE _leases.fence <= excluded.fence RETURNING 1 AS answer',
    params: [name, fence],
    answers: leaseAnswers.held,
  }
}

export const lease: LeaseStatements = {
  schema: [table],
  acquire: (claim) => [acquire(claim)],
  renew: (held, ttlMs) => [renew(held, ttlMs)],
  renewAll,
  release: (held, holdMs, news = held.name) => [release(held, holdMs, news)],
  look: (names) => lookAtLeases(names, nowMs, syntax.parameter),
  guard,
  admit: (name, fence) => [admit(name, fence)],
  topic,
  tell: (news) => sql(`SELECT pg_notify('${topic}', $1)`, news),
}
