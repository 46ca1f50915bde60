import { isRawKey, type LockKey } from '../core/key.ts'
import type { LeaseEvent, LockEvent, StatementEvent } from '../events/shapes.ts'
import { textOfKey } from '../locks/refused.ts'
import type { OrderLock } from './order-holder.ts'
import { sqlLockOf } from './sql-locks.ts'

type Place = OrderLock['place']

export function namedLock({ key, mode }: LockEvent, place: Place): OrderLock | undefined {
  return key === undefined ? undefined : { ...namesOf('name', key), mode, place }
}

export function leaseLock({ key, isPermit }: LeaseEvent, place: Place): OrderLock {
  return { ...namesOf(isPermit === true ? 'semaphore' : 'lease', key), mode: 'exclusive', place }
}

/** Of a call whose statement is not shown: which rows it locks, nobody sees. */
export function tableLock({ table, mode }: LockEvent, place: Place): OrderLock | undefined {
  return table === undefined
    ? undefined
    : { ...tableNames(table), which: undefined, by: undefined, mode, place }
}

/** What a statement locks. Undefined where it locks nothing, or only what the library has for itself. */
export function statementLock({
  text,
  params,
}: StatementEvent):
  | { readonly lock: Omit<OrderLock, 'place'>; readonly waits: boolean; readonly table: string }
  | undefined {
  const found = sqlLockOf(text, params)
  if (found === undefined || /(?:^|\.)(?:holdfast_|_leases$|_once$)/.test(found.table)) return undefined
  const { table, mode, waits, row } = found
  return { lock: { ...tableNames(table), which: row?.which, by: row?.by, mode }, waits, table }
}

/** With its schema or without, a table is the same one: the shorter name is the one that both have. */
function tableNames(table: string): Pick<OrderLock, 'kind'> {
  return { kind: `table ${(table.split('.').at(-1) ?? table).toLowerCase()}` }
}

/** The first part of a key is what it is one of. */
function namesOf(
  noun: 'name' | 'lease' | 'semaphore',
  key: LockKey,
): Pick<OrderLock, 'kind' | 'which' | 'by'> {
  const [first] = isRawKey(key) ? ['raw'] : [key].flat()
  return { kind: `${noun} ${String(first)}`, which: textOfKey(key), by: '' }
}
