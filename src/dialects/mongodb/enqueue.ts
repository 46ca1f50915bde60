import type { DocumentCommand, Row } from '../../core/statement.ts'
import type { QueueTable } from '../claim.ts'
import type { EnqueueStatements, NewRows } from '../enqueue.ts'
import { matches, type Document } from './claim.ts'
import { collection, fieldName } from './names.ts'

/** The ids are told of documents that an update has made, and not of those that were inserted. */
export const enqueue: EnqueueStatements = {
  insert: (queue, jobs) => ({
    command: { update: collection(queue.table), updates: upsertsOf(queue, jobs) },
  }),
  stored: ([reply], queue, jobs) => storedIn(reply, queue, jobs),
  find: (queue, keys, isHeld) => {
    const filter = {
      ...matches(queue),
      [fieldName(queue.token)]: { $eq: null },
      [uniqueOf(queue)]: { $in: keys },
    }
    const name = collection(queue.table)
    const find: DocumentCommand = { command: { find: name, filter, projection: { [queue.id]: 1 } } }
    // a write that changes nothing is dropped by the server, so a counter of our own is what changes
    const touch = { q: filter, u: { $inc: { _holdfast: 1 } }, multi: true }
    return isHeld ? [{ command: { update: name, updates: [touch] } }, find] : [find]
  },
  index: (queue) => ({
    ask: { command: { listIndexes: collection(queue.table) } },
    isThere: ([reply]) => indexesIn(reply).some((index) => isFit(index, uniqueOf(queue))),
    create: JSON.stringify(indexCommand(queue)),
    isOutside: true,
    noTable: '26',
  }),
  needsId: ({ id }) => id !== '_id',
  canCollide: true,
  takesAnything: true,
}

function uniqueOf({ unique = '' }: QueueTable): string {
  return fieldName(unique)
}

/**
 * Of documents without a key nothing must be found, so that each is made. They lack the field: the index has all that
 * have it, and null is equal to null there.
 */
function upsertsOf(queue: QueueTable, { columns, rows, isUnique }: NewRows): readonly Document[] {
  const at = columns.indexOf(queue.unique ?? '')
  return rows.map((row) => {
    const fields = columns.map((column, index) => [fieldName(column), row[index]] as const)
    const others = Object.fromEntries(fields.filter((_, index) => index !== at))
    return isUnique
      ? {
          q: { [uniqueOf(queue)]: { $eq: row[at] } },
          u: { $setOnInsert: others },
          upsert: true,
        }
      : { q: { _id: { $in: [] } }, u: { $setOnInsert: others }, upsert: true }
  })
}

interface Upserted {
  readonly index: number
  readonly _id: unknown
}

/** The server tells no other field than `_id`, but of which document it is. */
function storedIn(reply: Row | undefined, { id }: QueueTable, { columns, rows }: NewRows): readonly Row[] {
  const { upserted = [] } = (reply ?? {}) as { readonly upserted?: readonly Upserted[] }
  const at = columns.indexOf(id)
  return upserted.map(({ index, _id }) => ({ [id]: id === '_id' ? _id : rows[index]?.[at] }))
}

interface Index {
  readonly key: Document
  readonly unique?: boolean
  readonly sparse?: boolean
  readonly partialFilterExpression?: unknown
}

function indexesIn(reply: Row | undefined): readonly Index[] {
  const { cursor } = (reply ?? {}) as { readonly cursor?: { readonly firstBatch?: readonly Index[] } }
  return cursor?.firstBatch ?? []
}

/** A claim takes the field away: documents without it must not be equal to each other. */
function isFit({ key, unique, sparse, partialFilterExpression }: Index, field: string): boolean {
  const fields = Object.keys(key)
  const isWhole = sparse === true && partialFilterExpression === undefined
  return unique === true && isWhole && fields.length === 1 && fields[0] === field
}

function indexCommand(queue: QueueTable): Document {
  const name = `${collection(queue.table)}_${uniqueOf(queue)}`
  return {
    createIndexes: collection(queue.table),
    indexes: [{ key: { [uniqueOf(queue)]: 1 }, name, unique: true, sparse: true }],
  }
}
