import type { LockSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import type { LockFound } from '../inspect-found.ts'
import { groupBy, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'

/** Row locks, and table locks of InnoDB. Counted in the server: one transaction may have a million. */
const locks: Question = {
  ask: sql(`
SELECT CAST(l.ENGINE_TRANSACTION_ID AS CHAR) AS trx, t.PROCESSLIST_ID AS id, l.OBJECT_SCHEMA AS schema_name,
       l.OBJECT_NAME AS table_name, l.INDEX_NAME AS index_name, l.LOCK_TYPE AS lock_type, l.LOCK_MODE AS mode,
       l.LOCK_STATUS AS status, l.LOCK_MODE LIKE '%,GAP%' OR COALESCE(l.LOCK_DATA = 'supremum pseudo-record', 0) AS is_gap,
       COUNT(*) AS locks
  FROM performance_schema.data_locks l LEFT JOIN performance_schema.threads t ON t.THREAD_ID = l.THREAD_ID
 GROUP BY trx, id, schema_name, table_name, index_name, lock_type, mode, status, is_gap`),
  unknown: 'row locks: this user may not read performance_schema.data_locks',
}

const waits: Question = {
  ask: sql(
    'SELECT DISTINCT CAST(REQUESTING_ENGINE_TRANSACTION_ID AS CHAR) AS waiter, ' +
      'CAST(BLOCKING_ENGINE_TRANSACTION_ID AS CHAR) AS blocker FROM performance_schema.data_lock_waits',
  ),
  unknown: 'who blocks whom at rows: this user may not read performance_schema.data_lock_waits',
}

export const rowQuestions: Readonly<Record<'rowLocks' | 'rowWaits', Question>> = {
  rowLocks: locks,
  rowWaits: waits,
}

export function rowLocks(
  rows: readonly Row[] | undefined,
  waiting: readonly Row[] | undefined,
): readonly LockFound[] {
  const owners = ownersOf(rows ?? [])
  const blockers = groupBy(waiting ?? [], ({ waiter }) => String(waiter))
  return (rows ?? []).flatMap((row) => {
    const session = owners.get(String(row.trx))
    const isWaiting = row.status === 'WAITING'
    const isIntention = row.lock_type === 'TABLE' && (row.mode === 'IX' || row.mode === 'IS')
    if (session === undefined || (isIntention && !isWaiting)) return []
    const found = { session, lock: describeLock(row), table: tableOf(row) }
    if (!isWaiting) return [found]
    const blockedBy = (blockers.get(String(row.trx)) ?? []).map(
      ({ blocker }) => owners.get(String(blocker)) ?? `transaction ${String(blocker)}`,
    )
    return [{ ...found, wait: { blockedBy } }]
  })
}

/**
 * The sessions by their transactions.
 *
 * A lock is listed with the thread that made it, which may be the one that waits: a row that was just inserted is locked
 * by whoever first asks for it, in the inserter's name. The intention on the table is always the transaction's own.
 */
function ownersOf(rows: readonly Row[]): ReadonlyMap<string, string> {
  const known = rows.filter(({ id }) => textOf(id) !== undefined)
  const [tables, others] = [true, false].map((isTable) =>
    known.filter(({ lock_type: type }) => (type === 'TABLE') === isTable),
  )
  return new Map([...(others ?? []), ...(tables ?? [])].map(({ trx, id }) => [String(trx), String(id)]))
}

function describeLock(row: Row): LockSeen {
  const mode = String(row.mode)
  if (row.lock_type === 'TABLE') return { kind: 'table', mode, on: `table ${tableOf(row)}` }
  const what = Number(row.is_gap) === 1 ? 'gap' : 'row'
  const count = Number(row.locks) > 1 ? `${Number(row.locks)} ${what}s` : `a ${what}`
  return { kind: 'row', mode, on: `${count} of ${tableOf(row)} (index ${String(row.index_name)})` }
}

function tableOf({ schema_name: schema, table_name: table }: Row): string {
  return `${String(schema)}.${String(table)}`
}
