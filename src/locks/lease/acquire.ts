import { delay, performance } from '../../core/clock.ts'
import { randomUUID } from 'node:crypto'
import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { isRetryable, type ErrorKind } from '../../core/error-kind.ts'
import { LockError, LockTimeoutError } from '../../core/errors.ts'
import type { LeaseClaim, LeaseHeld, LeaseHolder, LeaseNews } from '../../dialects/lease.ts'
import { busyPauseMs } from '../transaction/begin.ts'
import {
  callLease,
  isAnswered,
  patiently,
  withoutConnection,
  type Answered,
  type Failed,
  type LateCall,
  type Reply,
} from './call.ts'
import { limitTo, NoAnswerError } from '../limit.ts'
import type { LeaseTable } from './table.ts'
import { marginMs } from './validity.ts'
import { NoConnectionError } from '../open-session.ts'
import type { LeasePort } from '../port.ts'

/** What one asks for until it is granted, another holds it, or nothing more can be hoped for. */
export interface Acquisition {
  readonly port: LeasePort
  readonly table: LeaseTable
  readonly name: string
  readonly ttlMs: number
  readonly deadline: Deadline
  /** Until when a request is made again that lost against another statement, or waits for its turn in this process. */
  readonly repeatUntil: Deadline
  readonly signal: AbortSignal | undefined
  /** Whether a request whose answer was lost may be made again: not by somebody who does not wait, for nothing at all. */
  readonly mayRepeat: boolean
  readonly onSend?: () => void
  readonly news?: LeaseNews | undefined
  readonly aside?: Aside
}

/** For whoever has something better to do than to wait for a transaction that is open under a lease that has ended. */
export interface Aside {
  /** After which time the lease counts as busy. What counts for a request is the time since it was sent. */
  readonly afterMs: number
  /** A request is seen to its end without its caller. */
  readonly begun: () => void
  /** It has ended. Says whether the caller still wants what was granted: otherwise it is released. */
  readonly ended: (grant: Grant | undefined) => boolean
}

/** A lease as it was granted. */
export interface Grant {
  readonly held: LeaseHeld
  /** On the monotonic clock: before the request was sent, and after it was answered. */
  readonly sentAt: number
  readonly answeredAt: number
}

/** Another holds the lease. */
export interface Busy {
  readonly topic: string | undefined
  /** How long it lasts unless it is renewed, where the server tells. */
  readonly leftMs: number | undefined
  /** What the server said of a transaction that has the row: that may be one under a lease that has ended. */
  readonly locked?: unknown
  /** Why it is not certain that another does: the server, or a limit of its own, ended the request before it was known. */
  readonly unsure?: unknown
}

/** How long a release that nobody waits for may take. */
const patienceMs = 5000
/** How long a pool that gives no connection is asked for one. */
const connectionPatienceMs = 30_000
/** How long whoever does not wait lets a server wait that cannot be told not to. */
const takeoverMs = 1000
const slowTakeover = `no answer in ${takeoverMs} ms: a transaction under it may still be open`
/** How often in a row a connection may break under a request. */
const maxBroken = 5

/**
 * Asks for a lease until the server has given a clear answer.
 *
 * A request that lost against another statement is repeated. One whose answer was lost is repeated under another
 * owner, and what it may have been granted is released behind it.
 */
export async function tryAcquire(asked: Acquisition): Promise<Grant | Busy> {
  const bear = createPatience(asked)
  const isPutAside = asideOf(asked)
  for (let failed = 1; ; failed += 1) {
    asked.signal?.throwIfAborted()
    const wasMade = asked.table.isMade()
    const claim = claimOf(asked)
    const reply = await request(asked, claim)
    if (isAnswered(reply)) {
      if (reply.answer === 'busy') return busyOf(reply)
      const grant = readGrant(reply, claim)
      if (grant !== undefined) {
        asked.table.noteUse(reply.dialect)
        return grant
      }
      void forget(asked.port, { ...claim, ...fenceIn(reply) })
    } else {
      asked.signal?.throwIfAborted()
      // the server may have been stopped between the grant and its confirmation by others
      if (reply.kind === 'cancelled') void forget(asked.port, claim)
      if (isHeld(reply) || isPutAside(reply)) return notHad(reply)
      if (!(await bear(reply, wasMade))) continue
    }
    await pause(pauseMs(reply, failed), asked.deadline, asked.signal)
  }
}

function claimOf({ name, ttlMs, news, mayRepeat }: Acquisition): LeaseClaim {
  return { name, owner: randomUUID(), ttlMs, isNowait: !mayRepeat, ...(news && { news }) }
}

function busyOf({ dialect, row }: Answered): Busy {
  const leftMs = Number(row?.left_ms ?? Number.NaN)
  return { topic: dialect.lease.topic, leftMs: Number.isFinite(leftMs) ? leftMs : undefined }
}

function notHad({ kind, error, dialect }: Failed): Busy {
  const busy = { topic: dialect?.lease.topic, leftMs: undefined }
  if (kind === 'cancelled') return { ...busy, unsure: error }
  return kind === 'lock-not-available' ? { ...busy, locked: error } : busy
}

async function request(asked: Acquisition, claim: LeaseClaim): Promise<Reply> {
  const { port, ttlMs, deadline, repeatUntil, signal, aside, mayRepeat } = asked
  // an answer that takes as long as the lease is worth nothing
  const mostMs = (): number => Math.min(ttlMs - marginMs(ttlMs), deadline.remainingMs())
  const limit = limitTo({ ms: mostMs(), signal })
  let isSettled = false
  let answerMs = aside?.afterMs
  const reply = await callLease(port, {
    statements: ({ acquire, acquireAlwaysWaits }) => {
      if (!mayRepeat && acquireAlwaysWaits === true) answerMs ??= takeoverMs
      return acquire(claim)
    },
    signal: limit.signal,
    turnBy: repeatUntil,
    onSend: () => {
      asked.onSend?.()
      if (answerMs !== undefined) limit.endIn(Math.min(answerMs, mostMs()), slowTakeover)
    },
    onLate: (late) => {
      isSettled = true
      aside?.begun()
      return settle(asked, claim, late)
    },
  })
  limit.end()
  if (!isAnswered(reply) && reply.mayBeDone && !isSettled) void forget(port, claim)
  return reply
}

/** Undefined for an answer that came too late to be of use, or that cannot be understood. */
function readGrant({ answer, row, sentAt }: Answered, claim: LeaseClaim): Grant | undefined {
  const fence = Number(row?.fence)
  const answeredAt = performance.now()
  const isInTime = answeredAt < sentAt + claim.ttlMs - marginMs(claim.ttlMs)
  if (answer !== 'granted' || !Number.isSafeInteger(fence) || !isInTime) return undefined
  return { held: { name: claim.name, owner: claim.owner, fence }, sentAt, answeredAt }
}

/**
 * `cancelled`: the wait for a transaction that has the row was cut short, by a limit of ours or of the server's, or the
 * server was slow.
 */
const heldKinds: readonly ErrorKind[] = [
  'unique-violation',
  'lock-timeout',
  'lock-not-available',
  'cancelled',
]

/** Somebody else has the row, or was faster to make it. */
function isHeld({ kind, dialect, mayBeDone }: Failed): boolean {
  if (dialect === undefined || mayBeDone) return false
  return heldKinds.includes(kind)
}

/** Says of what went wrong whether whoever does not wait for long is to go on. */
function asideOf({ aside, mayRepeat }: Acquisition): (failure: Failed) => boolean {
  if (aside === undefined) return () => false
  const soon = deadlineIn(aside.afterMs)
  return ({ error, kind, mayBeDone }) =>
    mayBeDone ? error instanceof NoAnswerError : mayRepeat && isRetryable(kind) && soon.isPast()
}

/** Whoever makes requests again that went wrong. */
export type Repeating = Pick<Acquisition, 'table' | 'deadline' | 'repeatUntil' | 'mayRepeat'>

/**
 * Bears with requests that went wrong. Throws when the failure is not worth another one; says whether there is to be a
 * pause before it. `wasMade`: whether the table had been made before the request.
 */
export function createPatience(asked: Repeating): (failure: Failed, wasMade: boolean) => Promise<boolean> {
  let broken = 0
  let openedAt = performance.now()
  let triedAt = openedAt
  return async (failure, wasMade) => {
    const [before, now] = [triedAt, performance.now()]
    triedAt = now
    if (failure.dialect !== undefined) openedAt = now
    if (failure.error instanceof NoConnectionError) {
      const fitsOnceMore = now - openedAt + (now - before) <= connectionPatienceMs
      if (asked.mayRepeat && fitsOnceMore && !asked.deadline.isPast()) return false
      // each try had a limit of its own
      throw withoutConnection(now - openedAt)
    }
    broken = isRetryable(failure.kind) ? 0 : broken + 1
    await beforeNext(failure, asked, { wasMade, broken })
    return true
  }
}

/** Throws when the failure is not worth another request. */
async function beforeNext(
  { error, kind, dialect, mayBeDone }: Failed,
  asked: Repeating,
  { wasMade, broken }: { readonly wasMade: boolean; readonly broken: number },
): Promise<void> {
  // however long it took to find out
  if (kind === 'other' && dialect !== undefined && !mayBeDone) {
    const hasTable = dialect.lease.schema.length > 0
    if (wasMade || !hasTable) throw error
    return asked.table.make({ dialect, error })
  }
  if (asked.repeatUntil.isPast()) throw error
  if (isRetryable(kind)) return
  const isFinal = error instanceof LockError && !(error instanceof LockTimeoutError)
  if (!asked.mayRepeat || broken >= maxBroken || isFinal) throw error
}

export function pauseMs(reply: Reply, failed: number): number {
  if (isAnswered(reply) || reply.kind === 'busy') return busyPauseMs()
  return backoffMs(failed, { capMs: 200 })
}

/** Sees a request to its end for which nobody waits any longer. */
async function settle({ port, aside }: Acquisition, claim: LeaseClaim, call: LateCall): Promise<void> {
  const late = await patiently(call)
  const grant = late !== undefined && isAnswered(late) ? readGrant(late, claim) : undefined
  if (aside?.ended(grant) === true && grant !== undefined) return
  const isTaken = late === undefined || (isAnswered(late) ? late.answer !== 'busy' : late.mayBeDone)
  if (isTaken) void forget(port, { ...claim, ...fenceIn(late) })
}

function fenceIn(reply: Reply | undefined): { readonly fence?: number } {
  const fence = reply !== undefined && isAnswered(reply) ? Number(reply.row?.fence) : Number.NaN
  return Number.isSafeInteger(fence) ? { fence } : {}
}

/** What is released that nobody has heard of, and how long it was asked for. */
interface Unheard extends LeaseHolder {
  readonly ttlMs: number
}

/** The pauses before each look that is answered: the request may still be under way. */
const looksAfterMs = [0, 250, 1000]

/**
 * Releases what an owner may have been granted without hearing of it.
 *
 * A look that the server did not answer has seen nothing, so that it is repeated, until the lease has ended by itself.
 */
export async function forget(port: LeasePort, { name, owner, fence, ttlMs }: Unheard): Promise<void> {
  // the owner is unique: where the answer was lost, nobody knows the fence
  const holder = { name, owner, ...(fence !== undefined && { fence }) }
  const ending = deadlineIn(ttlMs)
  for (let [answered, failed] = [0, 0]; answered < looksAfterMs.length && !ending.isPast();) {
    const afterMs = failed === 0 ? looksAfterMs[answered] : backoffMs(failed, { capMs: patienceMs })
    await delay(afterMs, undefined, { ref: false })
    const reply = await release(port, holder)
    if (isAnswered(reply) && reply.answer === 'released') return
    if (isAnswered(reply)) [answered, failed] = [answered + 1, 0]
    else failed += 1
  }
}

async function release(port: LeasePort, holder: LeaseHolder): Promise<Reply> {
  const limit = limitTo({ ms: patienceMs, keepsAlive: false })
  const reply = await callLease(port, {
    statements: (lease) => lease.release(holder, 0),
    signal: limit.signal,
  })
  limit.end()
  return reply
}
