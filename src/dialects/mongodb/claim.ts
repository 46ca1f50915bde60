import type { DocumentCommand, Row, Value } from '../../core/statement.ts'
import {
  countIn,
  countRows,
  readCounts,
  type Changes,
  type ClaimStatements,
  type Counted,
  type HeldClaim,
  type QueueTable,
} from '../claim.ts'
import { collection, fieldName } from './names.ts'

/** A claim outlives a failover only when most members have it. */
const durable = { writeConcern: { w: 'majority' } }

/** As a number and not as a date, so that it is the same in every dialect. */
const now = { $toLong: '$$NOW' }

export type Document = Readonly<Record<string, unknown>>

export function matches({ where }: Pick<QueueTable, 'where'>): Document {
  return Object.fromEntries(
    where.map(({ column, values }) => [
      fieldName(column),
      values.length === 1 ? { $eq: values[0] } : { $in: values },
    ]),
  )
}

/** A field that is missing or null comes before every number, so it is over as well. */
function isOver({ until }: QueueTable): Document {
  return { $expr: { $lte: [`$${fieldName(until)}`, now] } }
}

export function claimable(queue: QueueTable): Document {
  const { attempts, maxAttempts } = queue
  const few =
    attempts === undefined || maxAttempts === undefined ? {} : { [attempts]: { $not: { $gte: maxAttempts } } }
  return { ...matches(queue), ...isOver(queue), ...few }
}

export function sortOf({ order }: QueueTable): Document {
  return Object.fromEntries(
    order.map(({ column, direction }) => [fieldName(column), direction === 'desc' ? -1 : 1]),
  )
}

/** A value in a pipeline: a text with a dollar sign in front would be the name of a field. */
function literal(value: Value): Document {
  return { $literal: value }
}

function free({ token, until, worker }: QueueTable, change: Changes = {}): Document {
  const cleared = [token, until, worker].filter((field) => field !== undefined)
  return { ...change, ...Object.fromEntries(cleared.map((field) => [field, null])) }
}

export const claim: ClaimStatements = {
  take: (queue, { token, worker, limit, visibilityMs }) => {
    const name = collection(queue.table)
    const change = [
      {
        $set: {
          [fieldName(queue.token)]: literal(token),
          [fieldName(queue.until)]: { $add: [now, visibilityMs] },
          ...(queue.worker === undefined ? {} : { [queue.worker]: literal(worker ?? null) }),
          ...(queue.unique === undefined ? {} : { [queue.unique]: '$$REMOVE' }),
          ...(queue.attempts === undefined
            ? {}
            : { [queue.attempts]: { $add: [{ $ifNull: [`$${queue.attempts}`, 0] }, 1] } }),
        },
      },
    ]
    const [query, sort] = [claimable(queue), sortOf(queue)]
    if (limit === 1) {
      return {
        steps: [{ command: { findAndModify: name, query, sort, update: change, new: true, ...durable } }],
      }
    }
    const among = (seen: readonly Row[]): Document => ({
      [queue.id]: { $in: seen.map((row) => row[queue.id]) },
    })
    return {
      steps: [
        { command: { find: name, filter: query, sort, limit, projection: { [queue.id]: 1 } } },
        (seen) => {
          const update = { q: { ...query, ...among(seen) }, u: change, multi: true }
          return { command: { update: name, updates: [update], ...durable } }
        },
        (seen) => ({ command: { find: name, filter: { ...among(seen), [queue.token]: token }, sort } }),
      ],
    }
  },
  complete: (queue, held, change) =>
    change === 'delete'
      ? one(queue, held, { remove: true })
      : one(queue, held, { update: { $set: { ...change, [queue.token]: null, [queue.until]: null } } }),
  release: (queue, held, delayMs) => {
    const later = { [queue.until]: { $add: [now, delayMs] } }
    const update = delayMs === 0 ? { $set: free(queue) } : [{ $set: { ...free(queue), ...later } }]
    return one(queue, held, { update })
  },
  unclaim: (queue, held) => {
    const { attempts } = queue
    if (attempts === undefined) return one(queue, held, { update: { $set: free(queue) } })
    // never below nought: somebody may have reset the number meanwhile
    const less = { $max: [0, { $subtract: [{ $ifNull: [`$${attempts}`, 0] }, 1] }] }
    return one(queue, held, { update: [{ $set: { ...free(queue), [attempts]: less } }] })
  },
  extend: (queue, held, visibilityMs) =>
    one(queue, held, { update: [{ $set: { [queue.until]: { $add: [now, visibilityMs] } } }] }),
  giveBack: (queue) =>
    many(queue, { ...matches(queue), ...isOver(queue), [queue.token]: { $ne: null } }, free(queue)),
  bury: (queue, { set }) => {
    const { attempts = '', maxAttempts } = queue
    const spent = { [attempts]: { $gte: maxAttempts } }
    return many(queue, { ...matches(queue), ...isOver(queue), ...spent }, free(queue, set))
  },
  tally: (queue) => {
    const [until, token] = [`$${fieldName(queue.until)}`, `$${fieldName(queue.token)}`]
    const isFree = { $lte: [until, now] }
    const isHeld = { $gt: [token, null] }
    const [isFew, isSpent] = attemptsIn(queue)
    const group = {
      _id: null,
      ready: sumOf(isFree, isFew),
      delayed: sumOf({ $not: [isFree] }, { $not: [isHeld] }),
      claimed: sumOf({ $not: [isFree] }, isHeld),
      spent: sumOf(isFree, isSpent),
    }
    return { statement: counting(queue, matches(queue), { $group: group }), read: readCounts }
  },
  tallyDead: (queue, looks) => ({
    statement: counting(queue, matches({ where: looks }), { $count: 'n' }),
    read: countIn,
  }),
  // a field that is missing is an empty one
  misfits: [],
  // changes of the collection are told without being announced
  topic: ({ table }) => collection(table),
}

function sumOf(...conditions: readonly unknown[]): Document {
  return { $sum: { $cond: [{ $and: conditions }, 1, 0] } }
}

/** Whether a document may be claimed still, and whether it was claimed too often. */
function attemptsIn({ attempts, maxAttempts }: QueueTable): readonly [unknown, unknown] {
  if (attempts === undefined || maxAttempts === undefined) return [true, false]
  const isSpent = { $gte: [{ $ifNull: [`$${fieldName(attempts)}`, 0] }, maxAttempts] }
  return [{ $not: [isSpent] }, isSpent]
}

function counting({ table }: QueueTable, found: Document, count: Document): DocumentCommand {
  return { command: { aggregate: collection(table), pipeline: [{ $match: found }, count], cursor: {} } }
}

/** The document, as long as the claim is the holder's. In a transaction it is the commit that reaches most members. */
function one(queue: QueueTable, { id, token, inTransaction }: HeldClaim, change: Document): Counted {
  const query = { [fieldName(queue.id)]: { $eq: id }, [fieldName(queue.token)]: { $eq: token } }
  const command = {
    findAndModify: collection(queue.table),
    query,
    ...change,
    fields: { _id: 1 },
    ...(inTransaction === true ? {} : durable),
  }
  return { statements: [{ command }], count: countRows }
}

function many(queue: QueueTable, query: Document, set: Document): Counted {
  const update = { q: query, u: { $set: set }, multi: true }
  return {
    statements: [{ command: { update: collection(queue.table), updates: [update], ...durable } }],
    count: ([reply]) => Number(reply?.n ?? 0),
  }
}
