import { onlyKnown } from '../../core/check-field.ts'
import type { LockKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { LockMode, Target, Wait } from '../../core/request.ts'
import type { Row } from '../../core/statement.ts'
import type { JoinOptions } from '../named/lock-options.ts'
import { orderResources, sameValue, type Resource, type TableRows } from './resource-order.ts'
import type { OpenTransaction } from '../port.ts'
import type { LockedRows } from '../rows/rows.ts'
import { partOf } from '../transaction/part.ts'

/** A resource that is locked until the transaction ends. */
export interface LockedResource {
  /** As they are once they are locked, in the order of their key; none for a name. */
  readonly rows: readonly Row[]
  /** What was really taken. */
  readonly receipt: Receipt
}

/** How the locks of `inOrder` are taken, each of them. */
export interface InOrderOptions {
  /** The mode of every lock. @default 'exclusive' */
  readonly mode?: LockMode
  /** What to do while another holds one of them: the time is that of each statement by itself. @default 'block' */
  readonly wait?: Exclude<Wait, 'skip'>
  /** Refuse stronger or emulated locks too. @default false */
  readonly exact?: boolean
}

/**
 * Locks rows and names until the transaction ends, in one order that every caller shares, and gives them in the order
 * in which they were asked for. Two callers that name the same resources in opposite orders do not deadlock on them.
 *
 * Names come first, then tables by their name, then rows by their key; the rows of a table that one column names are
 * locked by one statement. Name a table the same way, and its rows by the same columns, everywhere.
 */
export type InOrder<Tx> = (
  tx: Tx,
  resources: readonly Resource[],
  options?: InOrderOptions,
) => Promise<readonly LockedResource[]>

/** The locks that the order is made of: those of the same `locks` object. */
export interface InOrderPort<Tx> {
  readonly find: (tx: Tx) => OpenTransaction<Tx>
  readonly lock: (tx: Tx, key: LockKey, options?: JoinOptions) => Promise<Receipt>
  readonly rows: (tx: Tx, target: Target, options?: InOrderOptions) => Promise<LockedRows<Row>>
}

export function createInOrder<Tx>({ find, lock, rows }: InOrderPort<Tx>): InOrder<Tx> {
  return async (tx, resources, options = {}) => {
    onlyKnown(options, ['mode', 'wait', 'exact'])
    const order = orderResources(resources)
    const locked = new Map<number, LockedResource>()
    const lockAll = async (): Promise<void> => {
      for (const { key, places } of order.names) {
        const receipt = await lock(tx, key, { ...options, reentry: 'join' })
        for (const place of places) locked.set(place, { rows: [], receipt })
      }
      for (const table of order.tables) {
        const found = await lockTable(table, (target) => rows(tx, target, options))
        for (const [place, one] of found) locked.set(place, one)
      }
    }
    await partOf(find(tx), lockAll)
    return resources.map((_, place) => locked.get(place) ?? unreachable())
  }
}

type LockTarget = (target: Target) => Promise<LockedRows<Row>>

/** The rows of one table, by the place of the resource that named them. */
async function lockTable(
  { table, steps, wanted }: TableRows,
  lock: LockTarget,
): Promise<readonly (readonly [number, LockedResource])[]> {
  const all: Row[] = []
  let receipt: Receipt | undefined
  for (const key of steps) {
    const rows = await lock({ table, key })
    receipt ??= rows.receipt
    all.push(...rows)
  }
  const shared = receipt ?? unreachable()
  const share = async (key: Target['key']): Promise<LockedResource> => {
    const own = wanted.length === 1 && steps.length === 1 ? all : rowsOf(all, key)
    // the database may call values equal that look different here, as texts in upper and lower case
    return { rows: own ?? (await lock({ table, key })), receipt: shared }
  }
  const result: (readonly [number, LockedResource])[] = []
  for (const { place, key } of wanted) result.push([place, await share(key)])
  return result
}

/** The rows that have these values; undefined when there is a value that none of them has. */
function rowsOf(all: readonly Row[], key: Target['key']): readonly Row[] | undefined {
  const columns = Object.entries(key).map(([column, value]) => [column, [value].flat()] as const)
  const own = all.filter((row) =>
    columns.every(([column, values]) => values.some((value) => sameValue(row[column], value))),
  )
  const isComplete = columns.every(([column, values]) =>
    values.every((value) => own.some((row) => sameValue(row[column], value))),
  )
  return isComplete ? own : undefined
}

function unreachable(): never {
  throw new Error('every resource is locked')
}
