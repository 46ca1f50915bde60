import { deadlineIn } from '../../core/deadline.ts'
import { LockTimeoutError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { permitNames } from '../../core/permit-name.ts'
import { forget } from '../lease/acquire.ts'
import type { Lease, Leases } from '../lease/lease.ts'
import type { LeaseOptions } from '../lease/options.ts'
import { nowaitAnswerMs, refusedOf, waitForLease, type LeaseAsked, type LeaseShop } from '../lease/wait.ts'
import { askedOn, notAvailable, notInTime, type Asked } from '../refused.ts'
import { NoAnswerError, within } from '../limit.ts'
import { createSleeper, isStillOurs, leaveMs, rest } from '../semaphore/door.ts'
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
    const isOurs = await isOursAlone(search).catch((error: unknown) => {
      throw refusalOf(search, error)
    })
    // otherwise the door was lost meanwhile, and another is first by now
    if (isOurs) return search.door
  }
}

/** Whatever else comes of it, the door is left. */
async function isOursAlone(search: AtDoor): Promise<boolean> {
  const { asked, deadline, door } = search
  let isOurs = false
  try {
    const emptied = isEmptied(search)
    isOurs = await within({ ms: deadline.remainingMs(), signal: asked.signal }, emptied, () => {})
    if (asked.signal?.aborted === true) isOurs = false
    asked.signal?.throwIfAborted()
    return isOurs
  } finally {
    // nobody need know of a door that could not be left: it opens by itself
    if (!isOurs) await within({ ms: leaveMs, signal: asked.signal }, door.release(), () => {}).catch(() => {})
  }
}

const noun = 'shared lock'

function limitIn(wait: LeaseAsked['wait']): number | undefined {
  return typeof wait === 'object' ? wait.timeoutMs : undefined
}

/** In the words of what was asked for, however much of the time was left when it failed. */
function refusalOf(
  { shop, asked, refused }: Pick<AtDoor, 'shop' | 'asked' | 'refused'>,
  error: unknown,
): unknown {
  const isLate = error instanceof LockTimeoutError && asked.signal?.aborted !== true
  if (!isLate || refused.wait === 'block') return error
  const isSilent = error instanceof NoAnswerError
  if (refused.wait === 'nowait')
    return notAvailable(askedOn(shop.port, { ...refused, because: error.message }), error)
  return notInTime(askedOn(shop.port, refused), isSilent ? error : error.cause)
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
    (shop, asked) => {
      at = [shop, asked]
      return waitForLease(shop, asked).catch((error: unknown) => {
        throw refusalOf({ shop, asked, refused: wanted.refused }, error)
      })
    },
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
    kind: 'shared',
    permits: () => places,
    slow: createSlowRequests({ shop, lane, ttlMs: asked.ttlMs, onAnswer }),
  }
}

/** Waits at the door until no place has an owner. False when the door was lost. Rejects when it is waited for in vain. */
async function isEmptied(search: AtDoor): Promise<boolean> {
  const { shop, names, asked, deadline, door } = search
  const sleeper = createSleeper(asked.signal)
  const watch = shop.bell.watch({ concerns: names.includes, wake: sleeper.wake })
  try {
    for (let looks = 1; door.remainingMs() > 0; looks += 1) {
      sleeper.expect()
      const seen = await look(search)
      if (seen.owned === 0) return await isStillOurs(search, door)
      if (await isCleared(search, seen)) continue
      if (asked.wait === 'nowait') throw notAvailable(askedOn(shop.port, search.refused))
      if (deadline.isPast()) throw new LockTimeoutError('others share it')
      await rest({ sleeper, watch, deadline }, seen, looks)
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
  const given = forget(shop.port, { ...taken.grant.held, ttlMs: asked.ttlMs })
  await within({ ms: search.deadline.remainingMs(), signal: asked.signal }, given, () => {})
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
