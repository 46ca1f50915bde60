import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { LockNotAvailableError, RetryableTransactionError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { LockMode, Wait } from '../../core/request.ts'
import { takeTurn } from '../lane.ts'
import { NoAnswerError } from '../limit.ts'
import { NoConnectionError } from '../open-session.ts'
import { forget, tryAcquire, type Acquisition, type Busy, type Grant } from './acquire.ts'
import type { Attendance } from './attendance.ts'
import type { Bell } from './bell.ts'
import type { RenewalRounds } from './renewal-rounds.ts'
import type { LeaseTable } from './table.ts'
import type { LeasePort } from '../port.ts'
import { askedOn, labelOf, notAvailable, notInTime, type Asked, type LockNoun } from '../refused.ts'

/** What the leases of one object have in common. */
export interface LeaseShop {
  readonly port: LeasePort
  readonly table: LeaseTable
  readonly bell: Bell
  readonly rounds: RenewalRounds
  /** Tells the lines of these leases from those of others. */
  readonly id: string
}

export interface LeaseAsked {
  readonly key: LockKey
  /** What the caller has asked for: on some databases a lock is kept as a lease. */
  readonly noun: LockNoun
  readonly name: string
  readonly ttlMs: number
  readonly wait: Exclude<Wait, 'skip'>
  readonly signal: AbortSignal | undefined
}

/** How long somebody who does not wait repeats a request that lost against another, or waits for its turn to make it. */
export const nowaitRepeatMs = 1000
/** And waits for an answer: a transaction that holds up a takeover, or a silent server, is no reason to wait longer. */
export const nowaitAnswerMs = 5000
/** When a request has found no connection for so long, the one that listens may be what is missing. */
const scarceMs = 1000

/** Waits for a lease as asked. Whatever ends the wait, nothing stays granted that nobody knows of. */
export async function waitForLease(shop: LeaseShop, asked: LeaseAsked): Promise<Grant> {
  asked.signal?.throwIfAborted()
  const grant = await (asked.wait === 'nowait' ? takeNow(shop, asked) : takeInTurn(shop, asked))
  if (asked.signal?.aborted !== true) return grant
  void forget(shop.port, { ...grant.held, ttlMs: asked.ttlMs })
  throw asked.signal.reason
}

async function takeNow(shop: LeaseShop, asked: LeaseAsked): Promise<Grant> {
  const deadline = deadlineIn(nowaitAnswerMs)
  const refused = refusedOf(asked)
  let tried: Grant | Busy
  try {
    tried = await tryAcquire({
      ...acquisitionOf(shop, asked, deadline),
      repeatUntil: deadlineIn(nowaitRepeatMs),
      mayRepeat: false,
    })
  } catch (error) {
    if (asked.signal?.aborted === true || error instanceof NoConnectionError) throw error
    const because = doubtOf(error, deadline)
    throw because === undefined ? error : notAvailable(askedOn(shop.port, { ...refused, because }), error)
  }
  if (isGrant(tried)) return tried
  const { unsure, locked } = tried
  throw notAvailable(askedOn(shop.port, { ...refused, ...reasonOf(tried) }), unsure ?? locked)
}

const notSaid = 'the server did not say in time who has it'

/** Why nobody knows whether another holds it. Undefined for an error that says something else. */
function doubtOf(error: unknown, deadline: Deadline): string | undefined {
  if (error instanceof NoAnswerError) return error.message
  // on SQLite any transaction that writes is in the way of all leases
  if (error instanceof RetryableTransactionError)
    return 'the database is busy with another transaction, so that it is not known who has it'
  return deadline.isPast() ? notSaid : undefined
}

function reasonOf({ unsure, locked }: Busy): Pick<Asked, 'because'> {
  if (unsure !== undefined) return { because: notSaid }
  if (locked === undefined) return {}
  return { because: 'another is taking it, or a transaction under it is still open' }
}

export function refusedOf(
  { key, noun, wait }: Pick<LeaseAsked, 'key' | 'noun' | 'wait'>,
  mode: LockMode = 'exclusive',
): Asked {
  return { label: labelOf(noun, key), key, mode, wait, began: performance.now() }
}

function acquisitionOf(
  { port, table }: LeaseShop,
  { name, ttlMs, signal }: LeaseAsked,
  deadline: Deadline,
): Acquisition {
  return { port, table, name, ttlMs, signal, deadline, repeatUntil: deadline, mayRepeat: true }
}

export function isGrant(tried: Grant | Busy): tried is Grant {
  return 'held' in tried
}

/**
 * Those of one process wait in the order of asking, and only the first of them asks the server. A turn ends with the
 * wait, not with the lease: a lease that is lost holds nobody up.
 */
async function takeInTurn(shop: LeaseShop, asked: LeaseAsked): Promise<Grant> {
  const timeoutMs = typeof asked.wait === 'object' ? asked.wait.timeoutMs : undefined
  const deadline = deadlineIn(timeoutMs)
  const refused = refusedOf(asked)
  const attendance = shop.bell.attend(asked.name)
  let endTurn: (() => void) | undefined
  try {
    endTurn = await takeTurn(`${shop.id} ${asked.name}`, { deadline, signal: asked.signal })
    return await poll({ shop, asked, deadline, attendance })
  } catch (error) {
    if (asked.signal?.aborted === true || !deadline.isPast()) throw error
    throw notInTime(askedOn(shop.port, refused), error)
  } finally {
    endTurn?.()
    attendance.leave()
  }
}

interface Waiting {
  readonly shop: LeaseShop
  readonly asked: LeaseAsked
  readonly deadline: Deadline
  readonly attendance: Attendance
}

async function poll(waiting: Waiting): Promise<Grant> {
  const { asked, deadline, attendance } = waiting
  for (let look = 1; ; look += 1) {
    // whoever stands in line already does not ask out of turn
    const tried = look === 1 && attendance.isBehind() ? notAsked : await ask(waiting)
    if (isGrant(tried)) return tried
    if (deadline.isPast()) throw new LockNotAvailableError('held by another')
    const { topic, leftMs } = tried
    // where both a release and the end of the lease are known when they come, looking is for what goes wrong
    const quietMs = pollMs(attendance.isTold() && leftMs !== undefined ? Infinity : look)
    // what was released before somebody listened is seen by asking once more
    if (await attendance.listen(topic, Math.min(quietMs, deadline.remainingMs()))) continue
    await attendance.sleep({ quietMs, leftMs, deadline, signal: asked.signal })
  }
}

const notAsked: Busy = { topic: undefined, leftMs: Infinity }

async function ask({ shop, asked, deadline, attendance }: Waiting): Promise<Grant | Busy> {
  const acquisition = acquisitionOf(shop, asked, deadline)
  const news = attendance.expect()
  const tried = await unlessScarce(shop.bell, (onSend) => tryAcquire({ ...acquisition, onSend, news }))
  if (isGrant(tried)) attendance.took()
  else attendance.foundHeld()
  return tried
}

/** A listener must not keep the last connection of a pool from those who need it. */
export async function unlessScarce<T>(bell: Bell, attempt: (onSend: () => void) => Promise<T>): Promise<T> {
  const timer = setTimeout(bell.silence, scarceMs).unref()
  try {
    return await attempt(() => clearTimeout(timer))
  } finally {
    clearTimeout(timer)
  }
}

/**
 * How long to sleep after look number `look`: from 25 to 50 ms at first, up to half a second later.
 *
 * Never next to nothing, as a full jitter would allow: who waits for a lease may wait for hours.
 */
export function pollMs(look: number, random: () => number = Math.random): number {
  const longest = Math.min(500, 50 * 1.3 ** (look - 1))
  return (longest / 2) * (1 + random())
}
