import type { SqlStatement, Value } from '../core/statement.ts'
import { leaseAnswers, type LeaseClaim, type LeaseHolder } from './lease.ts'
import { sql } from './sql.ts'

/**
 * The `_leases` table of engines that have no named locks. `expires_at` is in milliseconds of the engine's own clock.
 *
 * Every change of a row must end in RETURNING. Seen on DuckDB 1.5.6: with it, a row under a primary key is deleted and
 * inserted anew, and any two such changes conflict; without it, columns are changed in place. One of each kind do not
 * conflict, and the change in place is lost. `guard` is for a DuckDB that would change all in place: conflicts are then
 * found by column, and only where the value has changed, so whoever excludes others counts it up.
 */
export const leaseTable: SqlStatement = sql(
  'CREATE TABLE IF NOT EXISTS _leases (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(128), ' +
    'fence BIGINT NOT NULL, expires_at BIGINT NOT NULL, guard BIGINT NOT NULL DEFAULT 0)',
)

/** Makes sure of the row that {@link guardRow} changes: two who insert it would meet only when they commit. */
export function leaseRow(name: string): SqlStatement {
  return sql(
    'INSERT INTO _leases (name, fence, expires_at) VALUES (?, 0, 0) ON CONFLICT (name) DO NOTHING',
    name,
  )
}

/** `now` is the engine's expression for its own clock in milliseconds. */
export function acquireLease({ name, owner, ttlMs }: LeaseClaim, now: string): SqlStatement {
  return {
    sql:
      'INSERT INTO _leases (name, owner, fence, expires_at) ' +
      `VALUES (?, ?, ${now}, ${now} + CAST(? AS BIGINT)) ON CONFLICT (name) DO UPDATE SET ` +
      `owner = excluded.owner, fence = ${nextFence('excluded.fence')}, ` +
      'expires_at = excluded.expires_at, guard = _leases.guard + 1 ' +
      'WHERE _leases.expires_at <= excluded.fence RETURNING 1 AS answer, fence',
    params: [name, owner, ttlMs],
    answers: leaseAnswers.taken,
  }
}

export function renewLease(holder: LeaseHolder, ttlMs: number, now: string): SqlStatement {
  const { condition, params } = heldBy(holder)
  return {
    sql: `UPDATE _leases SET expires_at = ${now} + CAST(? AS BIGINT) WHERE ${condition} RETURNING 1 AS answer`,
    params: [ttlMs, ...params],
    answers: leaseAnswers.held,
  }
}

/** Frees only the owner's own lease: a late release by an earlier owner finds nothing. */
export function releaseLease(holder: LeaseHolder, holdMs: number, now: string): SqlStatement {
  const { condition, params } = heldBy(holder)
  return {
    sql:
      `UPDATE _leases SET owner = NULL, expires_at = ${now} + CAST(? AS BIGINT) ` +
      `WHERE ${condition} RETURNING 1 AS answer`,
    params: [holdMs, ...params],
    answers: leaseAnswers.released,
  }
}

/**
 * Takes the name for one transaction, unless a lease holds it.
 *
 * The transaction takes over what has expired: an owner who comes late finds another fence and no owner.
 */
export function guardRow(name: string, now: string): SqlStatement {
  return {
    sql:
      `UPDATE _leases SET owner = NULL, fence = ${nextFence(now)}, expires_at = 0, guard = guard + 1 ` +
      `WHERE name = ? AND expires_at <= ${now} RETURNING 1 AS answer, fence`,
    params: [name],
    answers: leaseAnswers.taken,
  }
}

/** Keeps the highest fence of a lease that is kept elsewhere. */
export function admitFence(name: string, fence: number): SqlStatement {
  return {
    sql:
      'INSERT INTO _leases (name, fence, expires_at) VALUES (?, CAST(? AS BIGINT), 0) ' +
      'ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, guard = _leases.guard + 1 ' +
      'WHERE _leases.fence <= excluded.fence RETURNING 1 AS answer',
    params: [name, fence],
    answers: leaseAnswers.held,
  }
}

export function heldBy({ name, owner, fence }: LeaseHolder): {
  readonly condition: string
  readonly params: readonly Value[]
} {
  const condition = 'name = ? AND owner = ?'
  return fence === undefined
    ? { condition, params: [name, owner] }
    : { condition: `${condition} AND fence = CAST(? AS BIGINT)`, params: [name, owner, fence] }
}

/** Higher than the last, and never below the clock: a row that was deleted and made again goes on rising. */
function nextFence(now: string): string {
  return `CASE WHEN _leases.fence < ${now} THEN ${now} ELSE _leases.fence + 1 END`
}
