import { deadlineIn } from '../../core/deadline.ts'
import { LockLostError, LockNotAvailableError, LockTimeoutError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { permitNames } from '../../core/permit-name.ts'
import { forget } from '../lease/acquire.ts'
import type { Lease, Leases } from '../lease/lease.ts'
import type { LeaseOptions } from '../lease/options.ts'
import {
  nowaitAnswerMs,
  pollMs,
  refusedOf,
  waitForLease,
  type LeaseAsked,
  type LeaseShop,
} from '../lease/wait.ts'
import { askedOn, notAvailable, notInTime, type Asked } from '../refused.ts'
import { createSleeper } from '../semaphore/door.ts'
import { takePermit } from '../semaphore/permit.ts'
import { createSlowRequests } from '../semaphore/slow.ts'
import { look, takeOne, type Search, type Seen } from '../semaphore/slots.ts'

/**
 * How many can share a lock at a time. Whoever wants it alone looks at so many places, so all processes have to agree on it:
 * it is no option, and never changes.
 */
const places = 100

/** A shared lock that is asked for. */
export interface SharedRequest {
  readonly key: LockKey
  /** What a lease of the same key is called. */
  readonly name: string
  readonly options: Pick<LeaseOptions, 'ttlMs' | 'wait' | 'signal'>
}

/*
 * Everybody comes in by one door, a lease. Whoever shares the lock takes a place, which is a lease too, and sees that the
 * door is still its own before it leaves it. Whoever has the lock alone keeps the door, and waits until all places are
 * free. So of two who are let in, one had the door first: if that one shares the lock, its place is seen by the other; if
 * it has the lock alone, the other does not get the door.
 */

/** Takes a place among those who share the lock. */
export async function takeShared(leases: Leases, { options, ...request }: SharedRequest): Promise<Lease> {
  return takePermit(leases, { ...request, kind: 'shared', options: { ...options, permits: places } })
}

/** Takes the door, and waits until nobody shares the lock. */
export async function takeExclusive(leases: Leases, request: SharedRequest): Promise<Lease> {
  const { key, name, options } = request
  const { wait = 'block' } = options
  const wanted = {
    leases,
    key,
    options,
    names: permitNames(name, 'shared'),
    deadline: deadlineIn(wait === 'nowait' ? nowaitAnswerMs : limitIn(wait)),
    refused: refusedOf({ key, noun, wait }),
  }
  for (;;) {
    const search = await takeDoor(wanted)
    let isOurs = false
    try {
      isOurs = await isEmptied(search)
    } catch (error) {
      throw refusalOf(search, error)
    } finally {
      // otherwise it was lost meanwhile, and another is first by now
      if (!isOurs) await search.door[Symbol.asyncDispose]()
    }
    if (isOurs) return search.door
  }
}

const noun = 'shared lock'

function limitIn(wait: LeaseAsked['wait']): number | undefined {
  return typeof wait === 'object' ? wait.timeoutMs : undefined
}

/** What it means to somebody who waits for so long, or not at all, that the server could not be asked. */
function refusalOf({ shop, asked, deadline, refused }: AtDoor, error: unknown): unknown {
  const isRefusal = error instanceof LockNotAvailableError || error instanceof LockTimeoutError
  if (asked.signal?.aborted === true || isRefusal || !deadline.isPast()) return error
  if (asked.wait === 'nowait')
    return notAvailable(askedOn(shop.port, { ...refused, because: 'the server does not answer' }), error)
  return notInTime(askedOn(shop.port, refused), error)
}

interface Wanted extends Pick<Search, 'leases' | 'names' | 'deadline'>, Omit<SharedRequest, 'name'> {
  readonly refused: Asked
}

async function takeDoor(wanted: Wanted): Promise<AtDoor> {
  const { leases, key, names, options, deadline } = wanted
  const leftMs = deadline.remainingMs()
  const isLimited = options.wait !== 'nowait' && Number.isFinite(leftMs)
  const wait = isLimited ? { timeoutMs: Math.max(1, Math.ceil(leftMs)) } : options.wait
  let at: readonly [LeaseShop, LeaseAsked] | undefined
  const door = await leases.take(
    { key, name: names.door, noun, options: { ...options, ...(wait !== undefined && { wait }) } },
    (...where) => waitForLease(...(at = where)),
  )
  if (at === undefined) throw new TypeError('a lease was granted that nobody has waited for')
  return searchAt(wanted, door, at)
}

interface AtDoor extends Search {
  readonly door: Lease
  readonly refused: Asked
}

function searchAt(
  { leases, names, deadline, refused }: Wanted,
  door: Lease,
  [shop, asked]: readonly [LeaseShop, LeaseAsked],
): AtDoor {
  const lane = `${shop.id} places ${names.door}`
  const onAnswer = (slot: number): void => shop.bell.ring(names.slot(slot))
  return {
    door,
    refused,
    shop,
    asked,
    leases,
    names,
    lane,
    deadline,
    table: shop.table,
    repeatUntil: deadline,
    mayRepeat: asked.wait !== 'nowait',
    mode: 'exclusive',
    permits: () => places,
    slow: createSlowRequests({ shop, lane, ttlMs: asked.ttlMs, onAnswer }),
  }
}

/** Waits at the door until no place has an owner. False when the door was lost. Rejects when it is waited for in vain. */
async function isEmptied(search: AtDoor): Promise<boolean> {
  const { shop, names, asked, deadline, door, refused } = search
  const sleeper = createSleeper(asked.signal)
  const watch = shop.bell.watch({ concerns: names.includes, wake: sleeper.wake })
  try {
    for (let looks = 1; door.remainingMs() > 0; looks += 1) {
      sleeper.expect()
      const seen = await look(search)
      if (seen.owned === 0) return await isStillOurs(door)
      if (await isCleared(search, seen)) continue
      if (asked.wait === 'nowait') throw notAvailable(askedOn(shop.port, refused))
      if (deadline.isPast()) throw notInTime(askedOn(shop.port, refused))
      const quietMs = pollMs(watch.isTold() ? Infinity : looks)
      if (await watch.listen(seen.topic, Math.min(quietMs, deadline.remainingMs()))) continue
      await sleeper.sleep(Math.min(quietMs, seen.leftMs ?? Infinity, deadline.remainingMs()))
    }
    return false
  } finally {
    search.slow.end()
    watch.leave()
  }
}

/**
 * Takes over the places whose time is over, and gives them back: otherwise a holder whose clock stood still, and who asks
 * the server, would be told that it has the lock. Says whether there was one.
 */
async function isCleared(search: AtDoor, { expired }: Seen): Promise<boolean> {
  if (expired.length === 0) return false
  const { shop, asked } = search
  const taken = await takeOne(search, { ...nothingFree, expired })
  if (taken === undefined) return false
  await forget(shop.port, { ...taken.grant.held, ttlMs: asked.ttlMs })
  return true
}

const nothingFree: Seen = {
  isDoorTaken: true,
  owned: 0,
  free: [],
  expired: [],
  leftMs: undefined,
  topic: undefined,
}

async function isStillOurs(door: Lease): Promise<boolean> {
  try {
    await door.extend()
    return true
  } catch (error) {
    if (error instanceof LockLostError) return false
    throw error
  }
}
