import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { PermitNames } from '../../core/permit-name.ts'
import type { Statement } from '../../core/statement.ts'
import type { LeaseCommands } from '../../dialects/lease.ts'
import { createPatience, pauseMs, tryAcquire, type Grant, type Repeating } from '../lease/acquire.ts'
import { callLease, isAnswered, patiently, type Answered, type Reply } from '../lease/call.ts'
import type { Leases } from '../lease/lease.ts'
import { isGrant, unlessScarce, type LeaseAsked, type LeaseShop } from '../lease/wait.ts'
import { limitTo } from '../limit.ts'

/** One who looks for a free permit. */
export interface Search extends Repeating {
  readonly shop: LeaseShop
  readonly asked: LeaseAsked
  readonly leases: Leases
  readonly names: PermitNames
  /** How many permits there are now. */
  readonly permits: () => number
}

/** A permit as it was granted. */
export interface Taken {
  readonly slot: number
  readonly grant: Grant
}

/** What one look at all leases of a semaphore has shown. */
export interface Seen {
  /** Somebody stands first in the line. */
  readonly isDoorTaken: boolean
  /** The slots that nobody has. */
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
/** How long a takeover waits for a transaction that is open under an expired permit: another slot may be free by then. */
const takeoverMs = 1000
/** And when it is tried again: a request that waits in the server keeps a connection of the pool for some seconds. */
const asideMs = 10_000

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
    if (isAnswered(reply)) return seenIn(reply, slots, names)
    asked.signal?.throwIfAborted()
    if (await bear(reply, wasMade)) await pause(pauseMs(reply, failed), deadline, asked.signal)
  }
}

async function lookOnce(
  { shop, asked, deadline }: Search,
  names: readonly string[],
  onSend: () => void,
): Promise<Reply> {
  const limit = limitTo({ ms: Math.min(lookMs, deadline.remainingMs()), signal: asked.signal })
  const reply = await callLease(shop.port, {
    statements: (lease) => [lookOf(lease, names)],
    signal: limit.signal,
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

function seenIn({ rows, dialect }: Answered, slots: readonly number[], names: PermitNames): Seen {
  const left = new Map(rows.map(({ name, left_ms: leftMs }) => [String(name), Number(leftMs)]))
  const leftOf = (slot: number): number | undefined => left.get(names.slot(slot))
  const held = slots.map(leftOf).filter((leftMs) => leftMs !== undefined && leftMs > 0) as number[]
  return {
    isDoorTaken: (left.get(names.door) ?? 0) > 0,
    free: slots.filter((slot) => leftOf(slot) === undefined),
    expired: slots.filter((slot) => (leftOf(slot) ?? Infinity) <= 0),
    leftMs: held.length === 0 ? undefined : Math.min(...held),
    topic: dialect.lease.topic,
  }
}

/** Slots that could not be taken over, and until when they are left alone. */
export type PutAside = Map<number, Deadline>

/** Takes one of the slots that were seen to be free; undefined when others were faster. */
export async function takeOne(
  search: Search,
  { free, expired }: Seen,
  aside: PutAside = new Map(),
): Promise<Taken | undefined> {
  for (const slot of inAnyOrder(free)) {
    const grant = await takeSlot(search, slot, search)
    if (grant !== undefined) return { slot, grant }
  }
  for (const slot of inAnyOrder(expired.filter((one) => aside.get(one)?.isPast() !== false))) {
    const grant = await takeOver(search, slot)
    if (grant !== undefined) return { slot, grant }
    aside.set(slot, deadlineIn(asideMs))
  }
  return undefined
}

/** A transaction may still be open under it: then nobody has it before that ends. */
async function takeOver(search: Search, slot: number): Promise<Grant | undefined> {
  const soon = deadlineIn(Math.min(takeoverMs, search.deadline.remainingMs()))
  try {
    return await takeSlot(search, slot, { deadline: soon, repeatUntil: soon })
  } catch (error) {
    if (search.asked.signal?.aborted === true || !soon.isPast()) throw error
    return undefined
  }
}

async function takeSlot(
  { shop, asked, names, mayRepeat }: Search,
  slot: number,
  { deadline, repeatUntil }: Pick<Search, 'deadline' | 'repeatUntil'>,
): Promise<Grant | undefined> {
  const { port, table, bell } = shop
  const { ttlMs, signal } = asked
  const name = names.slot(slot)
  const tried = await unlessScarce(bell, (onSend) =>
    tryAcquire({ port, table, name, ttlMs, signal, deadline, repeatUntil, mayRepeat, onSend }),
  )
  return isGrant(tried) ? tried : undefined
}

/** Two who see the same slots free are not to ask for the same one. */
function inAnyOrder(slots: readonly number[]): readonly number[] {
  const start = Math.floor(Math.random() * slots.length)
  return [...slots.slice(start), ...slots.slice(0, start)]
}
