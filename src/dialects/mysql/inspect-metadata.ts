import type { Row } from '../../core/statement.ts'
import type { LockFound } from '../inspect-found.ts'
import { readableKey } from '../inspect-lease.ts'
import { groupBy, lockSeen, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'
import { conflicts } from './inspect-conflicts.ts'

/**
 * Locks on definitions, and those of GET_LOCK. The asking session's own are among them: it locks what it reads, so no
 * row at all means that the server does not keep this list.
 *
 * A lock that is free is PENDING too, for the moment in which it is granted: only who waits has a wait as its state.
 */
export const metadataQuestion: Question = {
  ask: sql(
    'SELECT t.PROCESSLIST_ID AS id, m.OBJECT_TYPE AS object_type, ' +
      'm.OBJECT_SCHEMA AS schema_name, m.OBJECT_NAME AS object_name, m.LOCK_TYPE AS mode, m.LOCK_STATUS AS status ' +
      'FROM performance_schema.metadata_locks m ' +
      'JOIN performance_schema.threads t ON t.THREAD_ID = m.OWNER_THREAD_ID ' +
      "WHERE m.LOCK_STATUS <> 'PENDING' OR t.PROCESSLIST_STATE = 'User lock' " +
      "OR t.PROCESSLIST_STATE LIKE 'Waiting for %lock' ORDER BY t.PROCESSLIST_ID",
  ),
  unknown: 'user locks and metadata locks: this user may not read performance_schema.metadata_locks',
}

/** Schemas of the server itself, which every look at it locks. */
const ownSchemas = ['performance_schema', 'information_schema', 'mysql', 'sys']

/** `rowLocks` are known already: a table whose rows a session has locked need not be told once more. */
export function metadataLocks(rows: readonly Row[], rowLocks: readonly LockFound[]): readonly LockFound[] {
  const named = new Set(rowLocks.map(({ session, table }) => `${session} ${table}`))
  return [...groupBy(rows, thing).values()].flatMap((sharers) => {
    const isWanted = sharers.some(isPending)
    return sharers
      .filter((row) => textOf(row.id) !== undefined)
      .filter(
        (row) => isWanted || !(isPlain(row) || (isUse(row) && named.has(`${String(row.id)} ${name(row)}`))),
      )
      .map((row) => found(row, sharers))
  })
}

function found(row: Row, sharers: readonly Row[]): LockFound {
  const isUserLock = row.object_type === 'USER LEVEL LOCK'
  const lock = lockSeen({
    kind: isUserLock ? 'name' : 'metadata',
    mode: String(row.mode),
    on: isUserLock ? `name ${name(row)}` : `${String(row.object_type).toLowerCase()} ${name(row)}`.trim(),
    key: isUserLock ? readableKey(name(row)) : undefined,
  })
  const session = String(row.id)
  return isPending(row) ? { session, lock, wait: { blockedBy: blockers(row, sharers) } } : { session, lock }
}

/** Those who have it, or else those who stand in the queue with a mode that lets nobody pass. */
function blockers(row: Row, sharers: readonly Row[]): readonly string[] {
  const rivals = sharers.filter(
    (other) => other.id !== row.id && conflicts(String(row.mode), String(other.mode)),
  )
  const holders = rivals.filter((other) => !isPending(other))
  return (holders.length > 0 ? holders : rivals).map(({ id }) => String(id))
}

function isPending({ status }: Row): boolean {
  return status === 'PENDING'
}

/** A statement's announcement that it may change something, and every look at the server's own tables. */
function isPlain({ mode, schema_name: schema }: Row): boolean {
  const isIntention = mode === 'INTENTION_EXCLUSIVE' || String(mode).startsWith('BACKUP_')
  return (
    isIntention || (ownSchemas.includes(String(schema).toLowerCase()) && String(mode).startsWith('SHARED'))
  )
}

/** What every transaction has on the tables that it reads and writes. */
function isUse({ object_type: type, mode }: Row): boolean {
  return type === 'TABLE' && (mode === 'SHARED_READ' || mode === 'SHARED_WRITE')
}

function thing({ object_type: type, schema_name: schema, object_name: object }: Row): string {
  return JSON.stringify([type, schema, object])
}

function name({ schema_name: schema, object_name: object }: Row): string {
  return [schema, object].flatMap((part) => textOf(part) ?? []).join('.')
}
