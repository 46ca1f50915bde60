import type { Answers, DocumentCommand } from '../../core/statement.ts'
import type { LeaseClaim, LeaseHeld, LeaseHolder, LeaseStatements } from '../lease.ts'

const collection = '_leases'

const taken: Answers = { column: 'answer', meaning: { true: 'granted', false: 'busy' } }
const held: Answers = { column: '_id', meaning: { none: 'not-held', '*': 'granted' } }
const released: Answers = { column: '_id', meaning: { none: 'not-held', '*': 'released' } }

/**
 * A lease outlives a failover only when most members have it.
 */
const durable = { writeConcern: { w: 'majority' } }

/** Documents that nobody has used for a week go away. Nothing is lost with them: the fence goes on from the clock. */
export const leaseCollection: DocumentCommand = {
  command: {
    createIndexes: collection,
    indexes: [{ key: { expiresAt: 1 }, name: 'holdfast_cleanup', expireAfterSeconds: 7 * 24 * 3600 }],
    ...durable,
  },
}

/** Compared with `$$NOW`, not left to the index: the server deletes what has expired a minute or more later. */
const isFree = { $lte: [{ $ifNull: ['$expiresAt', new Date(0)] }, '$$NOW'] }
const nextFence = { $max: [{ $add: [{ $ifNull: ['$fence', 0] }, 1] }, { $toLong: '$$NOW' }] }
const nowAnd = (ms: number): object => ({ $add: ['$$NOW', ms] })

/**
 * Makes the document where there is none, and changes it only where it is free.
 *
 * The filter must be the name alone: one that also asked for an expired lease would find none while it is held, and
 * try to insert it a second time.
 */
function takeIfFree(name: string, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = Object.entries({ ...changes, fence: nextFence })
  const set: Record<string, unknown> = Object.fromEntries(
    fields.map(([field, value]): [string, unknown] => [field, { $cond: [isFree, value, `$${field}`] }]),
  )
  return {
    findAndModify: collection,
    query: { _id: name },
    update: [{ $set: set }],
    upsert: true,
    new: true,
  }
}

/** The end of the lease tells a grant from one that the same owner already had. */
export function acquireLease({ name, owner, ttlMs }: LeaseClaim): DocumentCommand {
  const token = { $literal: owner }
  const isGranted = { $and: [{ $eq: ['$owner', token] }, { $eq: ['$expiresAt', nowAnd(ttlMs)] }] }
  return {
    command: {
      ...takeIfFree(name, { owner: token, expiresAt: nowAnd(ttlMs) }),
      fields: { fence: 1, answer: isGranted },
      // a transaction that has written the document keeps this waiting in the server, with a connection of the pool,
      // of which the transaction needs one for its end
      maxTimeMS: 1000,
      ...durable,
    },
    answers: taken,
  }
}

/**
 * Takes the name for one transaction, unless a lease holds it: a change that only one open transaction can make.
 *
 * The transaction takes over what has expired: an owner who comes late finds another fence and no owner.
 */
export function guardDocument(name: string): DocumentCommand {
  return {
    command: {
      ...takeIfFree(name, { owner: null, expiresAt: '$$NOW' }),
      fields: { fence: 1, answer: { $lte: ['$expiresAt', '$$NOW'] } },
    },
    answers: taken,
  }
}

function renewLease(holder: LeaseHeld, ttlMs: number): DocumentCommand {
  const update = [{ $set: { expiresAt: nowAnd(ttlMs) } }]
  return {
    command: { findAndModify: collection, query: heldBy(holder), update, new: true, ...durable },
    answers: held,
  }
}

/** Frees only the owner's own lease: a late release by an earlier owner finds nothing. */
export function releaseLease(holder: LeaseHolder, holdMs: number): DocumentCommand {
  const update = [{ $set: { owner: null, expiresAt: nowAnd(holdMs) } }]
  return {
    command: { findAndModify: collection, query: heldBy(holder), update, new: true, ...durable },
    answers: released,
  }
}

/** All in one batch: the rest of a cursor is not asked for. */
function look(names: readonly string[]): DocumentCommand {
  const isTaken = { $or: [{ owner: { $ne: null } }, { $expr: { $gt: ['$expiresAt', '$$NOW'] } }] }
  return {
    command: {
      aggregate: collection,
      pipeline: [
        { $match: { _id: { $in: names }, ...isTaken } },
        { $project: { _id: 0, name: '$_id', left_ms: { $subtract: ['$expiresAt', '$$NOW'] } } },
      ],
      cursor: { batchSize: names.length },
    },
  }
}

/** Reading locks nothing, so the document is changed: of two that change it, one is aborted or waits. */
function guard(holder: LeaseHeld): DocumentCommand {
  const update = { $inc: { guard: 1 } }
  return {
    command: { findAndModify: collection, query: heldBy(holder), update, new: true },
    answers: held,
  }
}

/**
 * Keeps the highest fence of a lease that is kept elsewhere, in a document without an end, which is not cleaned away.
 *
 * It is changed in any case: two transactions that left it as it is would not meet.
 */
function admit(name: string, fence: number): DocumentCommand {
  const set = {
    fence: { $max: [{ $ifNull: ['$fence', 0] }, fence] },
    guard: { $add: [{ $ifNull: ['$guard', 0] }, 1] },
  }
  return {
    command: {
      findAndModify: collection,
      query: { _id: name },
      update: [{ $set: set }],
      upsert: true,
      new: true,
      fields: { answer: { $eq: ['$fence', fence] } },
    },
    answers: { column: 'answer', meaning: { true: 'granted', false: 'not-held' } },
  }
}

function heldBy({ name, owner, fence }: LeaseHolder): Record<string, unknown> {
  return { _id: name, owner: { $eq: owner }, ...(fence !== undefined && { fence }) }
}

export const lease: LeaseStatements = {
  schema: [leaseCollection],
  isMadeByUse: true,
  acquire: (claim) => [acquireLease(claim)],
  renew: (holder, ttlMs) => [renewLease(holder, ttlMs)],
  release: (holder, holdMs) => [releaseLease(holder, holdMs)],
  look,
  guard,
  admit: (name, fence) => [admit(name, fence)],
  topic: collection,
}
