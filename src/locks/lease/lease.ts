/// <reference lib="esnext.disposable" preserve="true" />
import { randomBytes } from 'node:crypto'
import type { LockKey } from '../../core/key.ts'
import type { LeaseHeld } from '../../dialects/lease.ts'
import { leaseStory, type LeaseStory } from '../../events/lease-story.ts'
import type { LeaseEvent } from '../../events/shapes.ts'
import { Cutoff, type Abortable } from '../abort.ts'
import { placeOf } from '../event-place.ts'
import { createHandle } from '../handle.ts'
import type { Grant } from './acquire.ts'
import { createBell } from './bell.ts'
import { callLease, type LeaseCall } from './call.ts'
import { limitTo } from '../limit.ts'
import { checkLeaseOptions, checkTtl, type CheckedLeaseOptions, type LeaseOptions } from './options.ts'
import { releaseLease } from './release.ts'
import { createRenewal, type Renewal } from './renewal.ts'
import { createRenewalRounds } from './renewal-rounds.ts'
import { createLeaseTable } from './table.ts'
import { createValidity, type Validity, type ValidityOf } from './validity.ts'
import { waitForLease, type LeaseAsked, type LeaseShop } from './wait.ts'
import type { KeptElsewhere, LeasePort } from '../port.ts'
import { labelOf, type LockNoun } from '../refused.ts'

/** A named lock that ends by itself when its holder is no longer heard of. */
export interface Lease extends AsyncDisposable {
  /** The key that it was taken with. */
  readonly key: LockKey
  /** Unique for each lease that was granted. */
  readonly owner: string
  /** Higher than that of every earlier holder of the same key, for ever. */
  readonly fence: number
  /**
   * Aborts, with a `LockLostError`, when the lease is lost, or could not be confirmed before its time is over. Then
   * another may hold it: stop writing. Does not abort when the lease is released.
   */
  readonly signal: AbortSignal
  /** How long it may be relied on without another confirmation; 0 when it is lost or released. */
  readonly remainingMs: () => number
  /** Throws `LockLostError` when the lease is lost or released. Looks at the clock, and asks nobody. */
  readonly throwIfLost: () => void
  /** Confirms it now; with `ttlMs`, for so long from now on. Rejects with `LockLostError` when it is lost. */
  readonly extend: (ttlMs?: number) => Promise<void>
  /**
   * Ends it. Late or repeated, it does no harm: nobody else's lease is touched.
   *
   * Rejects when the server does not answer within 5 seconds; the lease then ends by itself. Disposal does the same,
   * and warns instead of rejecting.
   */
  readonly release: () => Promise<void>
}

/** A lease that is asked for. */
export interface LeaseRequest {
  readonly key: LockKey
  /** What the key is called in the table. */
  readonly name: string
  /** What the caller has asked for. @default 'lease' */
  readonly noun?: LockNoun
  /** Told once when it is not held any longer. */
  readonly onOver?: (isLost: boolean) => void
  readonly options?: LeaseOptions | CheckedLeaseOptions
  /** What those are told who listen, where they have been told that it is asked for. */
  readonly story?: LeaseStory | undefined
}

export interface Leases {
  /**
   * Waits for a lease, as asked.
   *
   * Rejects with `LockNotAvailableError` or `LockTimeoutError` while another holds it, and with the signal's reason
   * when that aborts.
   */
  readonly take: (request: LeaseRequest, waitFor?: WaitForGrant) => Promise<Lease>
  /**
   * Makes the table that the fence of a lease from elsewhere is kept in, if it can be made: who finds it missing inside of a
   * transaction finds it too late. Undefined where there is nothing to do: a lease from here has made it.
   */
  readonly prepareFor: (lease: Lease) => Promise<void> | undefined
}

/** How a lease is waited for. */
export type WaitForGrant = (shop: LeaseShop, asked: LeaseAsked) => Promise<Grant>

let created = 0

/** Leases in the database of a port. Their table is made when it is missing. */
export function createLeases(port: LeasePort): Leases {
  created += 1
  const { listen } = port.sessions
  const shop = {
    port,
    table: createLeaseTable(port),
    rounds: createRenewalRounds(port),
    bell: createBell({ listen, me: randomBytes(6).toString('base64url'), tell: teller(port) }),
    id: `lease ${created}`,
  }
  return {
    prepareFor: (lease) => (heldBy(lease)?.keeper === undefined ? undefined : shop.table.prepare()),
    take: async (request, waitFor = waitForLease) => {
      const { key, name, noun = 'lease', onOver, options = {} } = request
      const checked = checkLeaseOptions(options)
      const asked = { key, noun, name, ...checked }
      const isTold = noun === 'lease' || noun === 'permit of semaphore'
      const story = request.story ?? (isTold ? leaseStory(() => eventOf(port, asked)) : undefined)
      const grant = await waitFor(shop, asked).catch((error: unknown) => {
        story?.refused(error, port.server.candidates ?? [])
        throw error
      })
      story?.granted({ ...placeOf(port), fence: grant.held.fence })
      const told = story === undefined ? onOver : (isLost: boolean) => story.ended(isLost)
      const holding = hold(shop, { grant, onOver: told, label: labelOf(noun, key), ...checked })
      return faceOf(key, holding, port.keeper)
    },
  }
}

function eventOf(port: LeasePort, { key, noun, ttlMs, wait }: LeaseAsked): LeaseEvent {
  const isPermit = noun === 'permit of semaphore'
  return { ...placeOf(port), key, ttlMs, wait, ...(isPermit && { isPermit }) }
}

/** Tells others what nobody waits for to be told. */
function teller(port: LeasePort): (news: string) => void {
  return (news) => {
    const limit = limitTo({ ms: tellingMs, keepsAlive: false })
    const statements: LeaseCall['statements'] = ({ tell }) => (tell === undefined ? [] : [tell(news)])
    void callLease(port, { statements, signal: limit.signal }).then(limit.end)
  }
}

const tellingMs = 1000

/** A lease that was granted, and what keeps it where that is no database. */
export interface LeaseKept extends LeaseHeld {
  readonly keeper: KeptElsewhere | undefined
}

const heldLeases = new WeakMap<object, LeaseKept>()

/** What the server knows of a lease; undefined for what is none of ours. */
export function heldBy(lease: Lease): LeaseKept | undefined {
  return heldLeases.get(lease)
}

/** What keeps a lease: its timers refer to this, and never to what the caller has in hand. */
interface Holding {
  readonly held: LeaseHeld
  /** As people call it. */
  readonly label: string
  readonly validity: Validity
  readonly renewal: Renewal
  /** Aborts when it is not held any longer: one that nobody asks for costs less than the caller's signal. */
  readonly over: Abortable
  readonly release: (signal: Abortable) => Promise<void>
}

type Terms = CheckedLeaseOptions & ValidityOf & { readonly grant: Grant }

function hold({ port, bell, rounds }: LeaseShop, terms: Terms): Holding {
  const { grant, label, onOver, ttlMs, holdAtLeastMs } = terms
  const { held } = grant
  const over = new Cutoff()
  const end = (isLost: boolean): void => {
    over.abort(undefined)
    onOver?.(isLost)
  }
  const validity = createValidity({ label, onOver: end }, grant.sentAt, ttlMs)
  const renewal = createRenewal({ port, rounds, held, validity, ttlMs, isAutomatic: terms.renew })
  const release = async (signal: Abortable): Promise<void> => {
    validity.end()
    renewal.stop()
    const freeAt = grant.answeredAt + holdAtLeastMs
    const news = bell.farewell(held.name)
    if (await releaseLease(port, { held, freeAt, news, signal })) bell.ring(held.name)
  }
  return { held, label, validity, renewal, over, release }
}

/** A class, because a getter in an object literal gives every object a shape of its own, which is kept for long. */
class LeaseFace implements Omit<Lease, 'release' | typeof Symbol.asyncDispose> {
  readonly key: LockKey
  readonly owner: string
  readonly fence: number
  readonly remainingMs: () => number
  readonly throwIfLost: () => void
  readonly extend: (ttlMs?: number) => Promise<void>
  readonly #validity: Validity

  constructor(
    key: LockKey,
    { owner, fence }: LeaseHeld,
    { validity, renewal }: Pick<Holding, 'validity' | 'renewal'>,
  ) {
    this.key = key
    this.owner = owner
    this.fence = fence
    this.remainingMs = validity.remainingMs
    this.throwIfLost = validity.throwIfLost
    this.extend = async (ttlMs) => renewal.extend(ttlMs === undefined ? undefined : checkTtl(ttlMs))
    this.#validity = validity
  }

  get signal(): AbortSignal {
    this.#validity.remainingMs() // aborts it when its time is over, even before the timer has come
    return this.#validity.signal()
  }
}

function faceOf(
  key: LockKey,
  { held, label, validity, renewal, over, release }: Holding,
  keeper: KeptElsewhere | undefined,
): Lease {
  const abandoned = new Cutoff()
  const lease = createHandle(new LeaseFace(key, held, { validity, renewal }), {
    name: `the ${label}`,
    release: () => release(abandoned),
    abandon: (why) => abandoned.abort(why),
    signal: over,
  })
  heldLeases.set(lease, { ...held, keeper })
  return lease
}
