import type { ErrorLike } from '../../core/classification.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import { isAtLeast, type Version } from '../../core/version.ts'
import { sql } from '../sql.ts'
import { withColumns } from './columns.ts'
import type { CommitProbe, TransactionTraits } from '../transaction.ts'

export const transaction: TransactionTraits = {
  lockTimeout: (ms) => ({ head: sql(`SET LOCAL lock_timeout = ${ms}`) }),
  lowerLockTimeout,
  mayBeTimeout,
  savesBySavepoint: true,
  commitProbe,
}

/** What a role or a database has for those that set none is text with a unit, which the server itself can compare. */
function lowerLockTimeout(ms: number, beside: SqlStatement | undefined): SqlStatement {
  const own = "current_setting('lock_timeout')"
  const least = `CASE WHEN ${own}::interval BETWEEN '1us' AND '${ms}ms' THEN ${own} ELSE '${ms}' END`
  const column = `set_config('lock_timeout', ${least}, true)`
  if (beside === undefined) return sql(`SELECT ${column}`)
  return { ...beside, sql: beside.sql.replace('SELECT ', () => `SELECT ${column}, `) }
}

/**
 * A lock timeout is a cancel that the server sends itself. A statement that waits for one lock after another, as for a row
 * that several want, may get the first just then. Waiting for the second, it forgets whose cancel it was, and ends with
 * 57014, "due to user request" (seen with version 15: one in 3,800 timeouts).
 *
 * A query may have been cancelled for anything that it does: then its error has to say that it was at a row, as in
 * "while locking tuple (0,1)". The words are translated, the place is not.
 */
function mayBeTimeout({ message, where }: ErrorLike, isOnlyLocks: boolean): boolean {
  if (typeof message === 'string' && message.endsWith('due to statement timeout')) return false
  return isOnlyLocks || (typeof where === 'string' && /\(\d+,\d+\)/.test(where))
}

/**
 * A transaction's number is asked for while it runs, and what became of it afterwards.
 *
 * @see https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
function commitProbe(version: Version): CommitProbe | undefined {
  if (isAtLeast(version, [13, 0, 0])) return byXid8
  return isAtLeast(version, [10, 0, 0]) ? byBigint : undefined
}

// No driver makes a number of xid8 by itself, and the server takes a while for the cast. Of a bigint some do.
const byXid8 = probe('pg_current_xact_id() AS id', 'pg_xact_status($1::xid8)')
const byBigint = probe('txid_current()::text AS id', 'txid_status($1::bigint)')

function probe(column: string, status: string): CommitProbe {
  const joined = new WeakMap<SqlStatement, SqlStatement>()
  return {
    head: sql(`SELECT ${column}`),
    inside: (lock) => {
      const known = joined.get(lock)
      if (known !== undefined) return known
      const both = withColumns(lock, { behind: column })
      if (both !== undefined) joined.set(lock, both)
      return both
    },
    ask: (id) => sql(`SELECT ${status} AS status`, id),
    read,
  }
}

function read(row: Row | undefined): ReturnType<CommitProbe['read']> {
  if (row?.status === 'committed') return 'committed'
  if (row?.status === 'aborted') return 'rolled-back'
  return row?.status === 'in progress' ? 'running' : 'unknown'
}
