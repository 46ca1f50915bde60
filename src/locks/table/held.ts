import { onlyKnown } from '../../core/check-field.ts'
import { checkRequest, type CheckedTable } from '../../core/check-request.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { TableName, TableRequest } from '../../core/request.ts'
import type { OpenTransaction } from '../port.ts'
import type { TableLock, TablesOption } from './options.ts'

/**
 * What tells a table from others, and puts them into the one order in which every caller locks them. By its own name
 * first: one caller may name its schema, and another not.
 */
export function idOfTable(table: TableName): string {
  return JSON.stringify([table].flat().toReversed())
}

/** Checks one request at the door. */
export function checkTable(request: TableRequest): CheckedTable {
  return checkRequest('table', request).request as CheckedTable
}

/**
 * The receipt of a lock that the transaction has from its beginning, if that is at least what is asked for, or just that
 * where it has to be `exact`.
 */
export function heldTable(
  { tables }: OpenTransaction<unknown>,
  { table, mode = 'exclusive', blockReaders = false, exact = false }: TableLock,
): Receipt | undefined {
  const held = tables?.get(idOfTable(table))
  if (held === undefined) return undefined
  const { receipt, blocksReaders } = held
  const isEnough = (mode === 'shared' || receipt.granted === 'exclusive') && (blocksReaders || !blockReaders)
  const isJustThat =
    receipt.support.level === 'native' && receipt.granted === mode && blocksReaders === blockReaders
  return (exact ? isJustThat : isEnough) ? receipt : undefined
}

/** Refuses work that wants to be part of a transaction which has not locked its tables. */
export function mustHoldTables(open: OpenTransaction<unknown>, tables: TablesOption): void {
  for (const lock of tableLocks(tables)) {
    if (heldTable(open, lock) !== undefined) continue
    throw new LockUsageError(
      'tables',
      `the call would be part of a transaction that did not lock ${nameOf(lock.table)} so as it began: ` +
        'name it where that transaction begins, or leave it out here',
    )
  }
}

const fields = ['table', 'mode', 'wait', 'blockReaders', 'aliases', 'exact']

/** Each once, in the order in which every caller locks them. */
export function tableLocks(tables: TablesOption): readonly TableLock[] {
  const given: readonly (TableName | TableLock)[] = isList(tables) ? tables : [tables]
  const locks = new Map<string, TableLock>()
  for (const one of given) {
    const lock = isName(one) ? { table: one } : one
    onlyKnown(lock, fields, 'tables')
    checkTable(lock)
    const id = idOfTable(lock.table)
    if (locks.has(id)) throw new LockUsageError('tables', `${nameOf(lock.table)} is named twice`)
    locks.set(id, lock)
  }
  if (locks.size === 0) throw new LockUsageError('tables', 'names no table: leave it out, or name one')
  return [...locks].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, lock]) => lock)
}

export function nameOf(table: TableName): string {
  return JSON.stringify(typeof table === 'string' ? table : table.join('.'))
}

function isList(tables: TablesOption): tables is readonly (TableName | TableLock)[] {
  return Array.isArray(tables)
}

function isName(one: TableName | TableLock): one is TableName {
  return typeof one === 'string' || Array.isArray(one)
}
