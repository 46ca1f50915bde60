import type { Finding } from '../../core/attestation.ts'
import type { DocumentCommand, Row } from '../../core/statement.ts'
import type { Examination } from '../tools.ts'

const hello: DocumentCommand = { command: { hello: 1 } }
const concern: DocumentCommand = { command: { getDefaultRWConcern: 1 }, database: 'admin' }
const lifetime: DocumentCommand = {
  command: { getParameter: 1, transactionLifetimeLimitSeconds: 1 },
  database: 'admin',
}

/** As the server comes: a transaction that is open for longer is ended. */
const usualLifetimeSeconds = 60

export const examination: Examination = {
  questions: () => ({
    hello: { ask: hello, unknown: 'whether the server is part of a replica set' },
    concern: { ask: concern, unknown: 'the default write concern' },
    lifetime: { ask: lifetime, unknown: 'how long a transaction may last (transactionLifetimeLimitSeconds)' },
  }),
  read: (replies) => [
    ...readHello(replies.hello?.[0]),
    ...readConcern(replies.concern?.[0]),
    ...readLifetime(replies.lifetime?.[0]),
  ],
  leaseRow: {
    target: (name) => ({ table: '_leases', key: { _id: name } }),
    remove: (name) => ({ command: { delete: '_leases', deletes: [{ q: { _id: name }, limit: 1 }] } }),
  },
  // a collection that is there has at least the index on _id
  indexes: (collection) => ({
    command: {
      aggregate: collection,
      pipeline: [
        { $indexStats: {} },
        { $project: { name: 1, parts: { $objectToArray: '$key' } } },
        { $unwind: { path: '$parts', includeArrayIndex: 'place' } },
        { $sort: { name: 1, place: 1 } },
        { $project: { _id: 0, index_name: '$name', column_name: '$parts.k' } },
      ],
      cursor: {},
    },
  }),
}

function readHello(row: Row | undefined): readonly Finding[] {
  if (row === undefined) return []
  const isSharded = row.msg === 'isdbgrid'
  if (!isSharded && row.setName === undefined) return [noReplicaSet]
  return row.isWritablePrimary === true ? [] : [notPrimary]
}

function readConcern(row: Row | undefined): readonly Finding[] {
  const { w } = (row?.defaultWriteConcern ?? {}) as { readonly w?: unknown }
  return typeof w === 'number' && w <= 1 ? [weakConcern(w)] : []
}

function readLifetime(row: Row | undefined): readonly Finding[] {
  const seconds = row?.transactionLifetimeLimitSeconds
  return typeof seconds === 'number' && seconds < usualLifetimeSeconds ? [shortLifetime(seconds)] : []
}

const noReplicaSet: Finding = {
  id: 'no-replica-set',
  severity: 'error',
  title: 'this server is standalone: it is not part of a replica set',
  why: 'It has no transactions, so locks.transaction(...), locks.withLock(...) and row locks are not available. Leases are.',
  mend: 'Start it with --replSet and run rs.initiate() once: a set of one member is enough.',
}

const notPrimary: Finding = {
  id: 'not-primary',
  severity: 'error',
  title: 'this server is not the primary of its replica set',
  why: 'It accepts no writes, and every lock is a write.',
  mend: 'Name the replica set in the address, without directConnection=true, so that the driver finds the primary.',
}

function weakConcern(w: number): Finding {
  return {
    id: 'write-concern-weak',
    severity: 'warning',
    title: `writes are acknowledged before most members have them (default write concern w: ${w})`,
    why: "A failover can undo them. Holdfast's leases and transactions ask for the majority; other writes of the application do not.",
    mend: "Run setDefaultRWConcern with { w: 'majority' }.",
  }
}

function shortLifetime(seconds: number): Finding {
  return {
    id: 'transaction-lifetime-short',
    severity: 'warning',
    title: `a transaction is ended after ${seconds} s (transactionLifetimeLimitSeconds)`,
    why: 'A transaction that is ended from outside loses its locks and all of its work.',
    mend: 'Set transactionLifetimeLimitSeconds to 60, its default, or keep the work under locks shorter than that.',
  }
}
