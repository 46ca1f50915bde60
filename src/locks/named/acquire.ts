import { checkObject, oneOf } from '../../core/check-field.ts'
import { ownKey, type LockKey } from '../../core/key.ts'
import { asItIs, madeOf } from '../../core/on-demand.ts'
import { checkTtl } from '../lease/options.ts'
import { unlessUnsure } from './given-up.ts'
import { mustNotBeHeldAround } from './held-around.ts'
import { heldAlready } from './join-lock.ts'
import { areLocksHeard, lockStory } from '../../events/lock-story.ts'
import { placeOf } from '../event-place.ts'
import type { HoldsPort } from './hold.ts'
import { keyId } from './named-key.ts'
import type { OpenTransaction } from '../port.ts'
import * as seldom from '../seldom.ts'
import type { Held } from '../session-lock/hold.ts'
import {
  checkAcquire,
  type AcquireOptions as SessionOptions,
  type SessionRequest,
} from '../session-lock/options.ts'
import type { OnEnd } from '../session-lock/session-lock.ts'

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

export interface AcquirePort<Tx> extends HoldsPort<Tx> {
  /** The transaction that is open in this chain of calls. */
  readonly current: () => OpenTransaction<Tx> | undefined
}

/** Locks that outlive a transaction, kept by a connection where the engine can, otherwise by a lease. */
export function createAcquire<Tx>(parts: AcquirePort<Tx>): Acquire {
  const holds = madeOf(seldom.holds, ({ createHolds }) => createHolds(parts))
  return async (given, options = {}) => {
    checkObject('options', options)
    const key = ownKey(given)
    const { ttlMs = 30_000, reentry = 'refuse', ...session } = asItIs(options)
    oneOf('reentry', reentry, ['refuse', 'join'])
    checkTtl(ttlMs)
    const request = checkAcquire(key, session)
    const id = keyId(key)
    const current = parts.current()
    unlessUnsure(current, id)
    if (current === undefined) mustNotBeHeldAround(parts.port.sessions.source, [{ id, key }], request)
    const outer = current?.named.get(id)
    const held = outer && heldAlready(outer, { key, reentry, mode: request.mode })
    if (held !== undefined) return holds(({ within }) => within(key, held))
    const take = (onEnd?: OnEnd): Promise<Held> =>
      holds((code) => code.take(request, { ttlMs, options: session, onEnd }))
    return areLocksHeard() ? tellHeld(parts, request, take) : take()
  }
}

/** Those who listen are told at once: the caller is still on the stack, and what they note is there for what it does next. */
async function tellHeld<Tx>(
  { port, candidates }: HoldsPort<Tx>,
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
