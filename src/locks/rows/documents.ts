import { onlyKnown, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Plan } from '../../core/plan.ts'
import type { Target } from '../../core/request.ts'
import type { Row, Statement, Value } from '../../core/statement.ts'
import type { OpenTransaction } from '../port.ts'
import { partOf } from '../transaction/part.ts'
import { receiptOf, type LockedRows, type RowOptions } from './rows.ts'

/** The documents to lock, by a filter. They are locked by their `_id`, and given in the order of `sort`. */
export interface DocumentQuery {
  readonly collection: string
  readonly filter: Readonly<Record<string, unknown>>
  readonly sort?: Readonly<Record<string, 1 | -1>>
  readonly limit?: number
}

/** How the documents that were found are locked. */
export interface DocumentLock {
  readonly options: RowOptions
  /** The plan for rows of that collection; refuses what cannot be had before anything is sent. */
  readonly planFor: (target: Target) => Plan
  readonly lock: (target: Target) => Promise<LockedRows<Row>>
}

export function isDocumentQuery(query: unknown): query is DocumentQuery {
  return typeof query === 'object' && query !== null && 'collection' in query
}

/**
 * Finds the documents in the transaction, then locks those that were found.
 *
 * No other can match meanwhile: the transaction reads as of one moment, and a document that has changed since is a
 * conflict. When nothing matches, nothing is locked: the rows are empty, and so is the list of statements that lock.
 */
export function lockDocuments(
  open: OpenTransaction<unknown>,
  query: DocumentQuery,
  how: DocumentLock,
): Promise<LockedRows<Row>> {
  return partOf(open, () => lockFound(open, query, how))
}

async function lockFound(
  { session }: OpenTransaction<unknown>,
  query: DocumentQuery,
  { options, planFor, lock }: DocumentLock,
): Promise<LockedRows<Row>> {
  const find = findStatement(query)
  const plan = planFor({ table: query.collection, key: { _id: 0 } })
  const ids = (await session.run(find)).map(({ _id }) => _id)
  if (ids.length === 0) {
    const rows: Row[] = []
    return Object.assign(rows, { receipt: receiptOf(plan, options, { statements: [], waitedMs: 0 }) })
  }
  const locked = await lock({ table: query.collection, key: { _id: ids as readonly Value[] } })
  const places = new Map(ids.map((id, place) => [textOf(id), place]))
  const placeOf = ({ _id }: Row): number => places.get(textOf(_id)) ?? ids.length
  const { receipt } = locked
  return Object.assign(
    locked.toSorted((a, b) => placeOf(a) - placeOf(b)),
    { receipt },
  )
}

function findStatement(query: DocumentQuery): Statement {
  onlyKnown(query, ['collection', 'filter', 'sort', 'limit'])
  const { collection, filter, sort, limit } = query
  if (typeof filter !== 'object' || filter === null)
    throw new LockUsageError('filter', 'must be an object; {} is every document')
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1))
    throw new LockUsageError('limit', `${show(limit)} is not a whole number from 1 up`)
  const order = { ...(sort && { sort }), ...(limit !== undefined && { limit }) }
  return { command: { find: collection, filter, projection: { _id: 1 }, ...order } }
}

/** The same for equal ids only: a number is not its digits, nor is an ObjectId. */
function textOf(id: unknown): string {
  const kind = typeof id === 'object' && id !== null ? id.constructor.name : typeof id
  return `${kind} ${typeof id === 'bigint' ? id : JSON.stringify(id)}`
}
