import type { CheckedRow } from '../../core/check-request.ts'
import { LockUsageError } from '../../core/errors.ts'
import { canonicalKey } from '../../core/key.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import type { TableName } from '../../core/request.ts'
import { emulated, unsupported, type Unsupported } from '../../core/support.ts'
import { guardRow, leaseRow, leaseTable } from '../lease-table.ts'
import { readTarget } from '../sql.ts'
import { nowMs, syntax } from './syntax.ts'

/**
 * A guard row for the table, written first in the transaction: the second transaction to write it is aborted.
 *
 * Writing the row itself would not be a lock. Seen on DuckDB 1.5.6: an UPDATE that leaves the value as it is causes
 * no conflict; two changes of different columns of one row do not either; nor do a change and a DELETE. And an UPDATE
 * of the key column to itself writes the row anew as the transaction saw it, which undoes a change that has been
 * committed since.
 */
export function row(request: CheckedRow): PlanDraft | Unsupported {
  if (request.protectAbsence) {
    return unsupported(
      'an INSERT that takes no lock conflicts with nothing',
      'take an advisory lock in every transaction that inserts',
    )
  }
  const names = lockedTables(request).map(guardName)
  const read = request.target && readTarget(syntax, request.target)
  return {
    support: emulated(
      'table',
      'a guard row for each table: transactions that lock conflict and are repeated; one that writes without a lock is not stopped',
    ),
    mode: 'exclusive',
    // A conflict is reported at once and ends the transaction, so only all of it can be repeated.
    waiting: waitingBy('transaction', request.wait),
    needs: [leaseTable, ...names.map(leaseRow)],
    inTransaction: names.map((name) => guardRow(name, nowMs)),
    query: { style: 'covered', ...(read && { read }) },
  }
}

function lockedTables({ target, of }: CheckedRow): readonly TableName[] {
  const tables = target === undefined ? of : [target.table]
  if (tables.length > 0) return tables
  throw new LockUsageError(
    'target',
    'DuckDB locks by a guard row for the table: name the table in target or of',
  )
}

/** The name of the row that stands for a table. */
export function guardName(table: TableName): string {
  return canonicalKey(['holdfast.table', ...(typeof table === 'string' ? [table] : table)]).name
}
