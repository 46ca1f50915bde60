import type { LockEvent } from '../events/shapes.ts'
import { textOfKey } from '../locks/refused.ts'
import { placeText, type CallPlace } from './call-place.ts'

/** A transaction has held a lock for too long. */
export interface HoldReport {
  /** Which limit it has passed. */
  readonly level: 'suspect' | 'broken'
  /** Whether the lock is still held: then the other figures are those up to now. */
  readonly isHeld: boolean
  /** The lock, of those that the transaction has, that was taken first. */
  readonly lock: LockEvent
  /** Where it was taken. Undefined where nobody waits for the call that took it. */
  readonly place: CallPlace | undefined
  readonly heldMs: number
  /** How much of that a statement was under way. Undefined where the adapter shows no statements. */
  readonly databaseMs: number | undefined
  /** The statement that was sent last, where the adapter shows them. */
  readonly statement: string | undefined
  /** How many sessions waited. Undefined unless `locks` was given, where the table is not known, and where the server did not tell in time. */
  readonly waiters: number | undefined
  /** All of it in one sentence. */
  readonly message: string
}

export function messageOf(report: Omit<HoldReport, 'message'>): string {
  const { isHeld, lock, heldMs, place, statement, waiters } = report
  const held = `${lockText(lock)} ${isHeld ? 'is still held after' : 'was held'} ${ms(heldMs)}`
  const taken = place === undefined ? '' : `; taken at ${placeText(place)}`
  const after = statement === undefined ? '' : `; last statement: ${shortened(statement)}`
  const queue = waiters === undefined || waiters === 0 ? '' : `; ${waiters} waiting`
  return `${held}${outsideText(report)}${taken}${after}${queue}`
}

function outsideText({ heldMs, databaseMs }: Pick<HoldReport, 'heldMs' | 'databaseMs'>): string {
  return databaseMs === undefined
    ? ''
    : `, ${ms(Math.max(0, heldMs - databaseMs))} of it outside the database`
}

function lockText({ kind, key, table }: LockEvent): string {
  if (kind === 'table') return `the lock on table ${table}`
  if (kind === 'rows') return table === undefined ? 'a lock on rows' : `a lock on rows of ${table}`
  return key === undefined ? 'a named lock' : `the lock ${textOfKey(key)}`
}

function ms(time: number): string {
  return `${Math.round(time)} ms`
}

const longest = 120

function shortened(statement: string): string {
  const line = statement.replaceAll(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}
