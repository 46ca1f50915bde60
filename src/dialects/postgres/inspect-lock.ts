import type { LockKind, LockSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { lockSeen, textOf } from '../inspect-session.ts'
import { isTrue } from './boolean.ts'

/** What a row of `pg_locks` is in words. `others` are the locks of the same session; `names` tells keys by number. */
export function describeLock(row: Row, others: readonly Row[], names: ReadonlyMap<string, string>): LockSeen {
  const number = textOf(row.int64)
  return lockSeen({
    mode: String(row.mode),
    key: number === undefined ? undefined : names.get(number),
    ...describe(row, others),
  })
}

function describe(row: Row, others: readonly Row[]): { readonly kind: LockKind; readonly on: string } {
  const type = String(row.locktype)
  if (type === 'advisory') return { kind: 'name', on: `name ${textOf(row.int64) ?? String(row.pair)}` }
  if (type === 'tuple') return { kind: 'row', on: `a row of ${relation(row)}` }
  if (type === 'transactionid') return transactionOrRow(row, others)
  if (type === 'virtualxid') return { kind: 'transaction', on: `transaction ${String(row.virtual_number)}` }
  if (type === 'object') return { kind: 'metadata', on: `object ${String(row.object)}` }
  if (textOf(row.relation) !== undefined) return { kind: 'table', on: `table ${relation(row)}` }
  return { kind: type === 'frozenid' ? 'database' : 'transaction', on: type }
}

/**
 * Whoever waits for a row waits for the transaction that changed or locked it, with the row in hand: a lock on the
 * row itself, which says of which table it is. A unique key that another transaction inserts is waited for without.
 */
function transactionOrRow(row: Row, others: readonly Row[]): ReturnType<typeof describe> {
  const inHand = others.find(({ locktype, granted }) => locktype === 'tuple' && isTrue(granted))
  return inHand === undefined
    ? { kind: 'transaction', on: `transaction ${String(row.transaction_number)}` }
    : { kind: 'row', on: `a row of ${relation(inHand)}` }
}

/** The name is not to be had of a table that another transaction has just made, or that is of another database. */
function relation({ schema_name: schema, relation_name: name, relation: number }: Row): string {
  return textOf(name) === undefined ? `number ${String(number)}` : `${String(schema)}.${String(name)}`
}
