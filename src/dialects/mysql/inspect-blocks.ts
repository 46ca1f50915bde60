import type { Row } from '../../core/statement.ts'
import type { LockFound } from '../inspect-found.ts'
import { groupBy, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'
import { namedLock, reportQuestion, type ReportedTransaction } from './inspect-report.ts'

/**
 * For servers without a table of all row locks. The status report is up to date and tells who waits; it does not tell
 * for whom. The tables tell for whom, but as a copy that is made anew only after nobody has read it for 100 ms: hence the
 * pause, and hence the report has the last word on who waits.
 */
export const blockQuestions: Readonly<Record<'report' | 'pause' | 'blocks', Question>> = {
  report: reportQuestion,
  pause: {
    ask: sql('SELECT SLEEP(0.11) AS slept'),
    unknown: 'whether who blocks whom at rows is up to date',
  },
  blocks: {
    ask: sql(`
SELECT waiter.trx_mysql_thread_id AS waiter, blocker.trx_mysql_thread_id AS blocker, w.requested_lock_id AS wanted_lock,
       w.blocking_lock_id AS lock_id, l.lock_mode AS mode, l.lock_type AS type, l.lock_table AS table_name,
       l.lock_index AS index_name
  FROM information_schema.innodb_lock_waits w
  JOIN information_schema.innodb_trx waiter ON waiter.trx_id = w.requesting_trx_id
  JOIN information_schema.innodb_trx blocker ON blocker.trx_id = w.blocking_trx_id
  JOIN information_schema.innodb_locks l ON l.lock_id = w.blocking_lock_id`),
    unknown: 'who blocks whom at rows: this user lacks the privilege PROCESS',
  },
}

export function reportedLocks(
  transactions: readonly ReportedTransaction[],
  blocks: readonly Row[] = [],
): readonly LockFound[] {
  const byWaiter = groupBy(blocks, ({ waiter }) => String(waiter))
  const held = groupBy(
    blocks.filter((row) => !isWanted(row, blocks)),
    ({ blocker }) => String(blocker),
  )
  return transactions.flatMap((transaction) => {
    const { session, wait } = transaction
    const blockedBy = (byWaiter.get(session) ?? []).map(({ blocker }) => String(blocker))
    return [
      ...heldLocks(transaction, held.get(session) ?? []),
      ...(wait === undefined
        ? []
        : [{ session, ...wait.lock, wait: { blockedBy, waitedMs: wait.waitedMs } }]),
    ]
  })
}

/** A lock that blocks another may itself be waited for: who stands in the queue blocks those behind. */
function isWanted({ lock_id: id }: Row, blocks: readonly Row[]): boolean {
  return blocks.some(({ wanted_lock: wanted }) => wanted === id)
}

/** The report counts the rows; only of those that somebody waits for the table is known. */
function heldLocks(
  { session, rowLocks }: ReportedTransaction,
  blocking: readonly Row[],
): readonly LockFound[] {
  const named = blocking.map(({ table_name: table, index_name: index, mode }) => ({
    session,
    ...namedLock({
      table: String(table),
      index: textOf(index),
      mode: String(mode),
    }),
  }))
  if (named.length > 0 || rowLocks <= 0) return named
  const on =
    rowLocks === 1 ? 'a row, of which table is not told' : `${rowLocks} rows, of which tables is not told`
  return [{ session, lock: { kind: 'row', mode: 'row lock', on } }]
}

/** The sessions, with the age of their transactions as the report tells it, where nothing tells it better. */
export function withTransactions(
  sessions: readonly Row[] | undefined,
  transactions: readonly ReportedTransaction[],
): readonly Row[] {
  const activeMs = new Map(transactions.map((transaction) => [transaction.session, transaction.activeMs]))
  const age = (row: Row): unknown => row.transaction_ms ?? activeMs.get(String(row.id))
  return (sessions ?? []).map((row) => Object.assign({}, row, { transaction_ms: age(row) }))
}
