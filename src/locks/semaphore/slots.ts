import { pause } from '../../core/deadline.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { PermitKind, PermitNames } from '../../core/permit-name.ts'
import type { Statement } from '../../core/statement.ts'
import type { LeaseCommands } from '../../dialects/lease.ts'
import { createPatience, pauseMs, tryAcquire, type Grant, type Repeating } from '../lease/acquire.ts'
import { callLease, isAnswered, patiently, type Answered, type Reply } from '../lease/call.ts'
import type { Leases } from '../lease/lease.ts'
import { isGrant, unlessScarce, type LeaseAsked, type LeaseShop } from '../lease/wait.ts'
import { limitTo } from '../limit.ts'
import type { SlowRequests, Taken } from './slow.ts'

/** One who looks for a free permit. */
export interface Search extends Repeating {
  readonly shop: LeaseShop
  readonly asked: LeaseAsked
  readonly leases: Leases
  readonly names: PermitNames
  /** What those of this process stand in who want a permit of this semaphore. */
  readonly lane: string
  /** How many permits there are now. */
  readonly permits: () => number
  /** Of a shared lock nobody gets a place but by the door. */
  readonly kind: PermitKind
  readonly slow: SlowRequests
}

/** What one look at all leases of a semaphore has shown. */
export interface Seen {
  /** Somebody stands first in the line. */
  readonly isDoorTaken: boolean
  /** How many slots have an owner, also one whose time is over. */
  readonly owned: number
  /** The slots that nobody has. Those that are asked for already are left out here and below. */
  readonly free: readonly number[]
  /** Those whose holder is no longer heard of. */
  readonly expired: readonly number[]
  /** When the first of the others ends unless it is renewed; undefined where there are none. */
  readonly leftMs: number | undefined
  /** Where a release is heard of. */
  readonly topic: string | undefined
}

/** How long one look may take: it waits for nobody. */
const lookMs = 5000

/** Looks at the door and at all slots, in one request. Bears with failures as a request for a lease does. */
export async function look(search: Search): Promise<Seen> {
  const { shop, asked, deadline, names } = search
  const slots = Array.from({ length: search.permits() }, (_, slot) => slot)
  const all = [names.door, ...slots.map(names.slot)]
  const bear = createPatience(search)
  for (let failed = 1; ; failed += 1) {
    asked.signal?.throwIfAborted()
    const wasMade = shop.table.isMade()
    const reply = await unlessScarce(shop.bell, (onSend) => lookOnce(search, all, onSend))
    if (isAnswered(reply)) return seenIn(reply, slots, search)
    asked.signal?.throwIfAborted()
    if (await bear(reply, wasMade)) await pause(pauseMs(reply, failed), deadline, asked.signal)
  }
}

async function lookOnce(
  { shop, asked, deadline, repeatUntil }: Search,
  names: readonly string[],
  onSend: () => void,
): Promise<Reply> {
  const limit = limitTo({ ms: Math.min(lookMs, deadline.remainingMs()), signal: asked.signal })
  const reply = await callLease(shop.port, {
    statements: (lease) => [lookOf(lease, names)],
    signal: limit.signal,
    turnBy: repeatUntil,
    onSend,
    onLate: async (late) => void (await patiently(late)),
  })
  limit.end()
  return reply
}

function lookOf({ look: lookAt }: LeaseCommands, names: readonly string[]): Statement {
  if (lookAt !== undefined) return lookAt(names)
  throw new LockUsageError('dialect', 'does not say which leases are held, so there are no semaphores')
}

function seenIn({ rows, dialect }: Answered, slots: readonly number[], { names, slow }: Search): Seen {
  const left = new Map(rows.map(({ name, left_ms: leftMs }) => [String(name), Number(leftMs ?? Infinity)]))
  const leftOf = (slot: number): number | undefined => left.get(names.slot(slot))
  const held = slots.map(leftOf).filter((leftMs) => leftMs !== undefined && leftMs > 0) as number[]
  const toAsk = slow.isEnough() ? [] : slots.filter((slot) => !slow.isAsked(slot))
  return {
    isDoorTaken: (left.get(names.door) ?? 0) > 0,
    owned: slots.map(leftOf).filter((leftMs) => leftMs !== undefined).length,
    free: toAsk.filter((slot) => leftOf(slot) === undefined),
    expired: toAsk.filter((slot) => (leftOf(slot) ?? Infinity) <= 0),
    leftMs: held.length === 0 ? undefined : Math.min(...held),
    topic: dialect.lease.topic,
  }
}

/** Takes one of the slots that were seen to be free; undefined when others were faster. */
export async function takeOne(search: Search, { free, expired }: Seen): Promise<Taken | undefined> {
  const { slow, deadline } = search
  const late = slow.granted()
  if (late !== undefined) return late
  slow.noteUnsure(undefined)
  for (const slot of [...inAnyOrder(free), ...inAnyOrder(expired)]) {
    const grant = await takeSlot(search, slot)
    if (grant !== undefined) return { slot, grant }
    if (slow.isEnough() || deadline.isPast()) break
  }
  return slow.granted()
}

async function takeSlot(search: Search, slot: number): Promise<Grant | undefined> {
  const { shop, asked, names, deadline, mayRepeat, repeatUntil } = search
  const { port, table, bell } = shop
  const { ttlMs, signal } = asked
  const name = names.slot(slot)
  // a place that is granted later, when the door is another's, would keep that one waiting
  const aside = search.kind === 'shared' ? {} : { aside: search.slow.aside(slot) }
  const tried = await unlessScarce(bell, (onSend) =>
    tryAcquire({ port, table, name, ttlMs, signal, deadline, repeatUntil, mayRepeat, onSend, ...aside }),
  )
  if (isGrant(tried)) return tried
  if (tried.unsure !== undefined) search.slow.noteUnsure(tried.unsure)
  return undefined
}

/** Two who see the same slots free are not to ask for the same one. */
function inAnyOrder(slots: readonly number[]): readonly number[] {
  const start = Math.floor(Math.random() * slots.length)
  return [...slots.slice(start), ...slots.slice(0, start)]
}
