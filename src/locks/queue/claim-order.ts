import type { Session } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import type { QueueTable, TakePlan } from '../../dialects/claim.ts'

interface Arranging {
  readonly session: Session
  readonly arrange: TakePlan['arrange']
  readonly idOf: (row: Row) => unknown
}

/**
 * The rows in the queue's order.
 *
 * Whole numbers are compared here. The order of anything else (text, time, null) is the server's own business: it is
 * asked for it, which is one more round trip.
 */
export async function inOrder(
  rows: readonly Row[],
  queue: QueueTable,
  { session, arrange, idOf }: Arranging,
): Promise<readonly Row[]> {
  if (arrange === undefined || rows.length < 2) return rows
  const columns = queue.order.map(({ column }) => column)
  if (rows.every((row) => columns.every((column) => isWhole(row[column])))) {
    return rows.toSorted((a, b) => compare(a, b, queue))
  }
  const ids = await session.run(arrange)
  const places = new Map(ids.map((row, place) => [textOf(idOf(row)), place]))
  const placeOf = (row: Row): number => places.get(textOf(idOf(row))) ?? rows.length
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function isWhole(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

function compare(a: Row, b: Row, { order }: QueueTable): number {
  for (const { column, direction } of order) {
    const [left, right] = [a[column], b[column]]
    if (!isWhole(left) || !isWhole(right)) continue
    const rising = left < right ? -1 : left > right ? 1 : 0
    if (rising !== 0) return direction === 'asc' ? rising : -rising
  }
  return 0
}

function textOf(id: unknown): string {
  if (id instanceof Uint8Array) return Buffer.from(id).toString('hex')
  return typeof id === 'bigint' ? String(id) : JSON.stringify(id)
}
