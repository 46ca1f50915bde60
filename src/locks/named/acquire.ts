import { performance } from '../../core/clock.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { canonicalKey, isRawKey, ownKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import { checkObject, oneOf } from '../../core/check-field.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import { areLocksHeard, lockStory } from '../../events/lock-story.ts'
import { placeOf } from '../event-place.ts'
import { createHandle } from '../handle.ts'
import type { Leases } from '../lease/lease.ts'
import { checkTtl } from '../lease/options.ts'
import { unlessUnsure } from './given-up.ts'
import { heldAlready } from './join-lock.ts'
import { keyId } from './named-key.ts'
import type { NamedLocking } from './opening.ts'
import { asTimeout, openSession } from '../open-session.ts'
import type { OpenTransaction, Port, Server } from '../port.ts'
import { receiptOf } from '../rows/rows.ts'
import type { Held } from '../session-lock/hold.ts'
import {
  checkAcquire,
  type AcquireOptions as SessionOptions,
  type SessionRequest,
} from '../session-lock/options.ts'
import type { OnEnd, SessionLocks } from '../session-lock/session-lock.ts'

/** How a lock is taken that is held until it is released. */
export interface AcquireOptions extends SessionOptions {
  /**
   * How long the lock outlives a holder of whom nothing is heard, on engines that have no named locks and keep a lease
   * instead. Where the lock belongs to a connection, it ends with that at once. @default 30_000
   */
  readonly ttlMs?: number
  /** What to do when the same chain of calls holds it in a transaction: refuse, or go on under that lock. @default 'refuse' */
  readonly reentry?: 'refuse' | 'join'
}

/** Takes a lock that is held until it is released. */
export type Acquire = (key: LockKey, options?: AcquireOptions) => Promise<Held>

export interface AcquirePort<Tx> {
  readonly port: Port<Tx>
  readonly candidates: readonly Dialect[]
  readonly locking: NamedLocking
  readonly sessionLocks: SessionLocks
  readonly leases: Leases
  /** The transaction that is open in this chain of calls. */
  readonly current: () => OpenTransaction<Tx> | undefined
}

/** Locks that outlive a transaction, kept by a connection where the engine can, otherwise by a lease. */
export function createAcquire<Tx>(parts: AcquirePort<Tx>): Acquire {
  const isLease = parts.candidates.every(({ named }) => named.keptBy === 'lease')
  const asLease = acquireLease(parts)
  return async (given, options = {}) => {
    checkObject('options', options)
    const key = ownKey(given)
    const { ttlMs = 30_000, reentry = 'refuse', ...session } = options
    oneOf('reentry', reentry, ['refuse', 'join'])
    checkTtl(ttlMs)
    const request = checkAcquire(key, session)
    const id = keyId(key)
    unlessUnsure(parts.current(), id)
    const outer = parts.current()?.named.get(id)
    if (outer !== undefined)
      return heldByTransaction(key, heldAlready(outer, { key, reentry, mode: request.mode }))
    const take = (onEnd?: OnEnd): Promise<Held> =>
      isLease
        ? asLease(request, { ttlMs, signal: session.signal, ...(onEnd && { onEnd }) })
        : parts.sessionLocks.acquire(key, session, onEnd)
    return areLocksHeard() ? tellHeld(parts, request, take) : take()
  }
}

async function tellHeld<Tx>(
  { port, candidates }: AcquirePort<Tx>,
  { key, mode, wait }: SessionRequest,
  take: (onEnd: OnEnd) => Promise<Held>,
): Promise<Held> {
  const story = lockStory({ ...placeOf(port), kind: 'session', key, mode, wait })
  try {
    const held = await take((isLost) => story.ended(isLost))
    story.granted(placeOf(port))
    // it may have been lost while the answer was on its way
    if (held.signal.aborted) story.ended(true)
    return held
  } catch (error) {
    story.refused(error, candidates)
    throw error
  }
}

interface LeaseCall {
  readonly ttlMs: number
  readonly onEnd?: OnEnd
  readonly signal: AbortSignal | undefined
}

function acquireLease<Tx>({
  port,
  locking,
  leases,
}: AcquirePort<Tx>): (request: SessionRequest, call: LeaseCall) => Promise<Held> {
  let known: Server | undefined
  return async (request, { ttlMs, signal, onEnd }) => {
    const { key, mode, wait } = request
    known ??= await askServer(port, { signal, wait })
    // the statements of the lease's owner are its own; the plan says what is given, or refuses it
    const plan = locking.planFor(known, { ...request, lease: { owner: 'holder', ttlMs } })
    const began = performance.now()
    const lease = await leases.take({
      key,
      name: lockName(key),
      noun: 'lock',
      ...(onEnd && { onOver: onEnd }),
      options: { ttlMs, wait, ...(signal && { signal }) },
    })
    const waitedMs = performance.now() - began
    const receipt = receiptOf(plan, { mode }, { statements: plan.beforeBegin, waitedMs })
    return {
      key,
      receipt,
      get signal() {
        return lease.signal
      },
      release: () => lease.release(),
      [Symbol.asyncDispose]: async () => lease[Symbol.asyncDispose](),
    }
  }
}

/** The row that a transaction's lock on the same key uses as well, so that both exclude each other. */
function lockName(key: LockKey): string {
  if (!isRawKey(key)) return canonicalKey(key).name
  throw new LockUsageError('key', 'this database has no advisory locks that other code could share')
}

async function askServer<Tx>(
  port: Port<Tx>,
  { signal, wait }: { readonly signal: AbortSignal | undefined; readonly wait: SessionRequest['wait'] },
): Promise<Server> {
  const isTimed = typeof wait === 'object'
  const patience = { signal, patienceMs: isTimed ? wait.timeoutMs : 30_000 }
  const opening = openSession(port, { ...patience, purpose: 'to ask what the server is' })
  const session = await opening.catch((error: unknown) => {
    throw isTimed ? asTimeout(error) : error
  })
  try {
    return await port.server(session)
  } finally {
    await session.release()
  }
}

/** The lock of the transaction around: it ends with that, whatever becomes of this handle. */
function heldByTransaction(key: LockKey, receipt: Receipt): Held {
  const { signal } = new AbortController()
  return createHandle(
    { key, receipt, signal },
    { name: 'a lock of a transaction', release: nothing, abandon: () => {} },
  )
}

async function nothing(): Promise<void> {}
