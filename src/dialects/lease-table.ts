import type { LeaseTerms } from '../core/request.ts'
import type { Answers, SqlStatement } from '../core/statement.ts'
import { sql } from './sql.ts'

const granted: Answers = { column: 'answer', meaning: { 1: 'granted', none: 'busy' } }
const released: Answers = { column: 'answer', meaning: { 1: 'released', none: 'not-held' } }

/**
 * The `_leases` table of engines that have no named locks.
 *
 * A row is never deleted, so its fence rises for ever. `expires_at` is in milliseconds of the engine's own clock; a
 * row without an owner has expired.
 */
export const leaseTable: SqlStatement = sql(
  'CREATE TABLE IF NOT EXISTS _leases ' +
    '(name VARCHAR(64) PRIMARY KEY, owner VARCHAR(128), fence BIGINT NOT NULL, expires_at BIGINT NOT NULL)',
)

/** Makes sure of the row, so that taking the lock is always an UPDATE, on which two transactions conflict. */
export function leaseRow(name: string): SqlStatement {
  return sql(
    'INSERT INTO _leases (name, fence, expires_at) VALUES (?, 0, 0) ON CONFLICT (name) DO NOTHING',
    name,
  )
}

/** `now` is the engine's expression for its own clock in milliseconds. */
export function acquireLease(name: string, { owner, ttlMs }: LeaseTerms, now: string): SqlStatement {
  return {
    sql:
      `UPDATE _leases SET owner = ?, fence = fence + 1, expires_at = ${now} + CAST(? AS BIGINT) ` +
      `WHERE name = ? AND expires_at <= ${now} RETURNING 1 AS answer, fence`,
    params: [owner, ttlMs, name],
    answers: granted,
  }
}

/** Frees only the owner's own lease: a late release by an earlier owner finds nothing. */
export function releaseLease(name: string, { owner }: LeaseTerms): SqlStatement {
  return {
    sql: 'UPDATE _leases SET owner = NULL, expires_at = 0 WHERE name = ? AND owner = ? RETURNING 1 AS answer',
    params: [name, owner],
    answers: released,
  }
}

/**
 * Takes the name for one transaction, unless a lease holds it. The fence is written, not only read: writing the same
 * value again is no conflict on DuckDB.
 */
export function guardRow(name: string, now: string): SqlStatement {
  return {
    sql: `UPDATE _leases SET fence = fence + 1 WHERE name = ? AND expires_at <= ${now} RETURNING 1 AS answer, fence`,
    params: [name],
    answers: granted,
  }
}
