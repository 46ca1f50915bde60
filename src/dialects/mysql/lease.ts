import type { Answers, SqlStatement } from '../../core/statement.ts'
import type { LeaseClaim, LeaseHeld, LeaseHolder, LeaseStatements } from '../lease.ts'
import { lookAtLeases } from '../lease-look.ts'
import { sql } from '../sql.ts'

/** In UTC: local time has an hour that comes twice a year. The same all through a statement. */
export const nowMs = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000"

/**
 * The index `held` has all that a guard reads, so a guard locks its entry and not the row: renewals and vain tries,
 * which change neither owner nor fence, pass it. It is unique, so that no gap beside the entry is locked.
 *
 * https://dev.mysql.com/doc/refman/8.4/en/innodb-locks-set.html
 */
const table = sql(
  'CREATE TABLE IF NOT EXISTS _leases (name VARCHAR(64) NOT NULL PRIMARY KEY, owner VARCHAR(128) NULL, ' +
    'fence BIGINT NOT NULL, expires_at BIGINT NOT NULL, UNIQUE KEY held (name, owner, fence)) ' +
    'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
)

const isHeld = 'name = ? AND owner = ? AND fence = ?'
const isOwned = 'name = ? AND owner = ? AND fence = COALESCE(?, fence)'
const granted: Answers['meaning'] = { '*': 'granted' }

/** Each assignment sees those before it, so the one that the others look at comes last. */
function acquire({ name, owner, ttlMs }: LeaseClaim): readonly SqlStatement[] {
  const take = sql(
    `INSERT INTO _leases (name, owner, fence, expires_at) VALUES (?, ?, ${nowMs}, ${nowMs} + ?) ` +
      `ON DUPLICATE KEY UPDATE owner = IF(expires_at <= ${nowMs}, ?, owner), ` +
      `fence = IF(expires_at <= ${nowMs}, GREATEST(fence + 1, ${nowMs}), fence), ` +
      `expires_at = IF(expires_at <= ${nowMs}, ${nowMs} + ?, expires_at)`,
    name,
    owner,
    ttlMs,
    owner,
    ttlMs,
  )
  const look = {
    sql: 'SELECT fence FROM _leases WHERE name = ? AND owner = ?',
    params: [name, owner],
    answers: { column: 'fence', meaning: { ...granted, none: 'busy' } },
  } as const
  return [take, look]
}

/** What is the owner's after the change was the owner's before it, since a lost lease never comes back. */
function renew({ name, owner, fence }: LeaseHeld, ttlMs: number): readonly SqlStatement[] {
  const change = sql(
    `UPDATE _leases FORCE INDEX (PRIMARY) SET expires_at = ${nowMs} + ? WHERE ${isHeld}`,
    ttlMs,
    name,
    owner,
    fence,
  )
  const look = {
    sql: `SELECT fence FROM _leases WHERE ${isHeld}`,
    params: [name, owner, fence],
    answers: { column: 'fence', meaning: { ...granted, none: 'not-held' } },
  } as const
  return [change, look]
}

function release({ name, owner, fence }: LeaseHolder, holdMs: number): readonly SqlStatement[] {
  const change = sql(
    `UPDATE _leases FORCE INDEX (PRIMARY) SET owner = NULL, expires_at = ${nowMs} + ? WHERE ${isOwned}`,
    holdMs,
    name,
    owner,
    fence ?? null,
  )
  const count = {
    sql: 'SELECT ROW_COUNT() AS answer',
    params: [],
    answers: { column: 'answer', meaning: { 1: 'released', 0: 'not-held' } },
  } as const
  return [change, count]
}

function guard({ name, owner, fence }: LeaseHeld): SqlStatement {
  return {
    sql: `SELECT fence FROM _leases FORCE INDEX (held) WHERE ${isHeld} LOCK IN SHARE MODE`,
    params: [name, owner, fence],
    answers: { column: 'fence', meaning: { ...granted, none: 'not-held' } },
  }
}

/** The end moves by a millisecond, to and fro: a row that stays as it is is not compared with other servers' changes. */
const touched = 'expires_at = expires_at ^ 1'

/** The guard tells whose it is: a count of what was changed could be that of a statement which the work sent between. */
function guardByChange(held: LeaseHeld): readonly SqlStatement[] {
  const { name, owner, fence } = held
  const change = `UPDATE _leases FORCE INDEX (PRIMARY) SET ${touched} WHERE ${isHeld}`
  return [sql(change, name, owner, fence), guard(held)]
}

/** The look locks: a plain one may see the row as it was when the transaction began. */
function admit(name: string, fence: number): readonly SqlStatement[] {
  const raise = sql(
    'INSERT INTO _leases (name, fence, expires_at) VALUES (?, ?, 0) ' +
      `ON DUPLICATE KEY UPDATE fence = GREATEST(fence, ?), ${touched}`,
    name,
    fence,
    fence,
  )
  const look = {
    sql: 'SELECT fence FROM _leases WHERE name = ? AND fence = ? FOR UPDATE',
    params: [name, fence],
    answers: { column: 'fence', meaning: { ...granted, none: 'not-held' } },
  } as const
  return [raise, look]
}

/** MariaDB's too. */
export const lease: LeaseStatements = {
  schema: [table],
  acquire,
  acquireAlwaysWaits: true,
  renew,
  release,
  look: (names) => lookAtLeases(names, nowMs),
  guard,
  guardByChange,
  admit,
}
