import { LockUsageError } from '../../core/errors.ts'
import type { LockSeen, SessionSeen, WaitSeen } from '../../core/inspection.ts'
import type { DocumentCommand, Row } from '../../core/statement.ts'
import { readLeases } from '../inspect-lease.ts'
import { sessionSeen, textOf, waitSeen } from '../inspect-session.ts'
import type { Inspector } from '../tools.ts'

const leases: DocumentCommand = {
  command: {
    aggregate: '_leases',
    pipeline: [
      { $match: { $or: [{ owner: { $ne: null } }, { $expr: { $gt: ['$expiresAt', '$$NOW'] } }] } },
      { $sort: { _id: 1 } },
      {
        $project: {
          name: '$_id',
          owner: 1,
          fence: 1,
          remaining_ms: { $subtract: ['$expiresAt', '$$NOW'] },
        },
      },
    ],
    cursor: {},
  },
}

/** https://www.mongodb.com/docs/manual/reference/operator/aggregation/currentOp/ */
function operations(allUsers: boolean): DocumentCommand {
  const isOfInterest = [
    { 'transaction.timeOpenMicros': { $exists: true } },
    { waitingForLock: true },
    { active: true, writeConflicts: { $gt: 0 } },
    { active: true, prepareReadConflicts: { $gt: 0 } },
  ]
  const pipeline = [{ $currentOp: { allUsers, idleSessions: true } }, { $match: { $or: isOfInterest } }]
  return { database: 'admin', command: { aggregate: 1, pipeline, cursor: {} } }
}

export const inspector: Inspector = {
  questions: (scope) => ({
    all: {
      ask: operations(true),
      unknown: 'operations and transactions of other users, for which the right `inprog` is needed',
    },
    own: { ask: operations(false), unknown: 'operations and transactions of this user' },
    leases: { ask: leases, unknown: 'leases' },
    // the reply names the database, and needs no right at all
    ...(scope === 'database' && {
      place: {
        ask: { command: { listCollections: 1, nameOnly: true, authorizedCollections: true } },
        unknown: 'which operations are of this database: those of all are shown',
      },
    }),
  }),
  read: ({ all, own, leases: rows, place }) => {
    const database = databaseIn(place?.[0])
    // while nothing runs in a transaction it names no database: it may be of this one
    const isHere = ({ ns }: Row): boolean =>
      database === undefined || typeof ns !== 'string' || ns === '' || ns.startsWith(`${database}.`)
    return { sessions: (all ?? own ?? []).filter(isHere).map(sessionOf), leases: readLeases(rows) }
  },
  blindSpots: [
    'which documents a transaction has written, and so for whom a write waits',
    'the database of a transaction in which nothing runs: those of all databases are shown',
  ],
  showsWaiting: false,
  cancel: killOperation,
}

/** https://www.mongodb.com/docs/manual/reference/command/killOp/ knows operations, and no sessions. */
function killOperation(id: string): DocumentCommand {
  const [, number] = /^operation ([1-9]\d{0,14})$/.exec(id) ?? []
  if (number !== undefined) return { database: 'admin', command: { killOp: 1, op: Number(number) } }
  throw new LockUsageError(
    'id',
    'MongoDB ends an operation by its number, and this one is known by its session: use killSessions in its shell',
  )
}

function databaseIn(reply: Row | undefined): string | undefined {
  const { ns } = documentOf(reply?.cursor)
  return typeof ns === 'string' ? ns.replace(/\.\$cmd\..*$/, '') : undefined
}

function sessionOf(operation: Row): SessionSeen {
  const { lsid, opid, active, appName, effectiveUsers, transaction } = operation
  const { timeOpenMicros: openFor } = documentOf(transaction)
  const isInTransaction = openFor !== undefined
  const columns = {
    id: uuidOf(documentOf(lsid).id) ?? `operation ${String(opid)}`,
    user_name: Array.isArray(effectiveUsers) ? documentOf(effectiveUsers[0]).user : undefined,
    application: appName,
    transaction_ms: isInTransaction ? Number(openFor) / 1000 : undefined,
    statement: statementOf(operation),
  }
  return sessionSeen(columns, {
    state: active === true ? 'active' : 'idle-in-transaction',
    holds: isInTransaction ? [written(operation)] : [],
    waits: waitOf(operation, isInTransaction),
  })
}

/** As text, or as the object that the driver makes of it. */
function uuidOf(id: unknown): string | undefined {
  const { toHexString } = documentOf(id)
  return typeof toHexString === 'function' ? String(toHexString.call(id)) : textOf(id)
}

function documentOf(value: unknown): Row {
  return typeof value === 'object' && value !== null ? (value as Row) : {}
}

function written(operation: Row): LockSeen {
  return { kind: 'transaction', mode: modeIn(operation), on: 'what its transaction has written' }
}

/**
 * For a lock on a collection the server says that it waits. For a document it does not: a write outside of a
 * transaction is tried again every few milliseconds, and each try is counted. Inside of one a conflict is an error.
 */
function waitOf(operation: Row, isInTransaction: boolean): WaitSeen | undefined {
  const { waitingForLock, ns, microsecs_running: running } = operation
  const isForLock = waitingForLock === true
  if (!isForLock && isInTransaction) return undefined
  const mode = modeIn(operation)
  const lock: LockSeen = isForLock
    ? { kind: 'table', mode, on: `collection ${String(ns)}` }
    : { kind: 'row', mode, on: `a document of ${String(ns)}` }
  return waitSeen(lock, running === undefined ? undefined : Number(running) / 1000, [])
}

/** The finest that it has or wants: one letter, in upper case where it leaves no room for others. */
function modeIn({ locks }: Row): string {
  const { Collection: ofCollection, Database: ofDatabase, Global: ofAll } = documentOf(locks)
  return textOf(ofCollection ?? ofDatabase ?? ofAll) ?? 'unknown'
}

/** What the driver adds to every command. */
const additions = /^(?:lsid|\$.*|txnNumber|autocommit|startTransaction|readConcern|writeConcern)$/

function statementOf({ op, ns, command }: Row): string | undefined {
  const fields = Object.entries(documentOf(command)).filter(([field]) => !additions.test(field))
  if (fields.length === 0) return undefined
  return `${String(op)} ${String(ns)} ${JSON.stringify(Object.fromEntries(fields))}`
}
