import type { SqlStatement } from '../../core/statement.ts'
import {
  leaseAnswers,
  type LeaseClaim,
  type LeaseHeld,
  type LeaseHolder,
  type LeaseStatements,
} from '../lease.ts'
import { lookAtLeases } from '../lease-look.ts'
import { sql } from '../sql.ts'
import { syntax } from './syntax.ts'

export const nowMs = "DATEDIFF_BIG(millisecond, '19700101', SYSUTCDATETIME())"

/**
 * A table that is there is no failure, whoever made it: another session meanwhile, or somebody with the right to.
 * Names and owners differ by every bit.
 */
const table = sql(
  'BEGIN TRY CREATE TABLE _leases (name nvarchar(64) COLLATE Latin1_General_BIN2 NOT NULL PRIMARY KEY, ' +
    'owner nvarchar(128) COLLATE Latin1_General_BIN2 NULL, fence bigint NOT NULL, expires_at bigint NOT NULL); ' +
    "END TRY BEGIN CATCH IF OBJECT_ID(N'_leases', N'U') IS NULL THROW; END CATCH",
)

const isHeld = 'name = @p1 AND owner = @p2 AND fence = CAST(@p3 AS bigint)'
const isOwned = 'name = @p1 AND owner = @p2 AND fence = COALESCE(CAST(@p3 AS bigint), fence)'

/**
 * HOLDLOCK keeps two who find no row from both inserting it. Looking takes an update lock, which passes the guard's
 * shared one: only a takeover waits for the guard.
 *
 * @see https://learn.microsoft.com/sql/t-sql/statements/merge-transact-sql
 */
function acquire({ name, owner, ttlMs }: LeaseClaim): SqlStatement {
  return {
    sql:
      `MERGE INTO _leases WITH (HOLDLOCK) AS held USING (SELECT @p1 AS name, @p2 AS owner, ${nowMs} AS now_ms) ` +
      'AS claim ON held.name = claim.name ' +
      'WHEN MATCHED AND held.expires_at <= claim.now_ms THEN UPDATE SET owner = claim.owner, ' +
      'fence = CASE WHEN held.fence < claim.now_ms THEN claim.now_ms ELSE held.fence + 1 END, ' +
      'expires_at = claim.now_ms + CAST(@p3 AS bigint) ' +
      'WHEN NOT MATCHED THEN INSERT (name, owner, fence, expires_at) ' +
      'VALUES (claim.name, claim.owner, claim.now_ms, claim.now_ms + CAST(@p3 AS bigint)) ' +
      'OUTPUT 1 AS answer, inserted.fence;',
    params: [name, owner, ttlMs],
    answers: leaseAnswers.taken,
  }
}

function renew({ name, owner, fence }: LeaseHeld, ttlMs: number): SqlStatement {
  return {
    sql: `UPDATE _leases SET expires_at = ${nowMs} + CAST(@p4 AS bigint) OUTPUT 1 AS answer WHERE ${isHeld}`,
    params: [name, owner, fence, ttlMs],
    answers: leaseAnswers.held,
  }
}

function release({ name, owner, fence }: LeaseHolder, holdMs: number): SqlStatement {
  return {
    sql:
      `UPDATE _leases SET owner = NULL, expires_at = ${nowMs} + CAST(@p4 AS bigint) ` +
      `OUTPUT 1 AS answer WHERE ${isOwned}`,
    params: [name, owner, fence ?? null, holdMs],
    answers: leaseAnswers.released,
  }
}

/** The hints of a shared row lock, which is held to the end of the transaction. */
function guard({ name, owner, fence }: LeaseHeld): SqlStatement {
  return {
    sql: `SELECT 1 AS answer FROM _leases WITH (REPEATABLEREAD, ROWLOCK) WHERE ${isHeld}`,
    params: [name, owner, fence],
    answers: leaseAnswers.held,
  }
}

function admit(name: string, fence: number): SqlStatement {
  return {
    sql:
      'MERGE INTO _leases WITH (HOLDLOCK) AS held USING (SELECT @p1 AS name, CAST(@p2 AS bigint) AS fence) ' +
      'AS seen ON held.name = seen.name ' +
      'WHEN MATCHED AND held.fence <= seen.fence THEN UPDATE SET fence = seen.fence ' +
      'WHEN NOT MATCHED THEN INSERT (name, fence, expires_at) VALUES (seen.name, seen.fence, 0) ' +
      'OUTPUT 1 AS answer;',
    params: [name, fence],
    answers: leaseAnswers.held,
  }
}

export const lease: LeaseStatements = {
  schema: [table],
  acquire: (claim) => [acquire(claim)],
  acquireAlwaysWaits: true,
  renew: (held, ttlMs) => [renew(held, ttlMs)],
  release: (held, holdMs) => [release(held, holdMs)],
  look: (names) => lookAtLeases(names, nowMs, syntax.parameter),
  guard,
  admit: (name, fence) => [admit(name, fence)],
}
