import { setTimeout as pause } from 'node:timers/promises'

import { watchStandstill } from '../../src/conformance/awake.ts'
import { LockLostError, LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import type { Shop } from '../stories/shop.ts'
import type { Random } from './random.ts'

type Key = readonly (string | number)[]

/** The locks that are raced for, and what was seen of the races. */
export interface Arena {
  readonly keys: readonly Key[]
  readonly inside: Map<string, number>
  /** How many were inside one lock at a time, at most. */
  most: number
  readonly tally: { granted: number; refused: number; aborted: number; lost: number }
  /** Errors that are neither a refusal nor the abort of the race itself. */
  readonly unexpected: unknown[]
}

export function createArena(keys: readonly Key[]): Arena {
  return {
    keys,
    inside: new Map(),
    most: 0,
    tally: { granted: 0, refused: 0, aborted: 0, lost: 0 },
    unexpected: [],
  }
}

/** One way to ask, with the terms of one race. */
interface Terms {
  readonly keys: readonly [Key, ...Key[]]
  readonly wait: 'nowait' | 'block' | { readonly timeoutMs: number }
  readonly signal: AbortSignal
  /** Inside the lock: until it is over, or until the lock may be gone. */
  readonly stay: (kind: 'lock' | 'lease', keys: readonly Key[], held: AbortSignal) => Promise<void>
}

export type Way = (shop: Shop, terms: Terms) => Promise<unknown>

const askBy = {
  withLock: ({ locks }, { keys: [key], stay, ...how }) =>
    locks.withLock(key, (_, held) => stay('lock', [key], held.signal), pickOptions(how)),
  tryLock: async ({ locks }, { keys: [key], stay, signal }) => {
    const given = await locks.tryLock(
      key,
      async (_, held) => {
        await stay('lock', [key], held.signal)
        return true
      },
      { signal },
    )
    if (!given.acquired) throw new LockNotAvailableError('tried')
  },
  withLocks: ({ locks }, { keys, stay, ...how }) =>
    locks.withLocks(keys, (_, held) => stay('lock', keys, held.signal), pickOptions(how)),
  acquire: async ({ locks }, { keys: [key], stay, ...how }) => {
    const held = await locks.acquire(key, pickOptions(how))
    await stay('lock', [key], held.signal)
    await held.release()
  },
  lease: async ({ locks }, { keys: [key], stay, ...how }) => {
    const lease = await locks.lease(key, pickOptions(how))
    await stay('lease', [key], lease.signal)
    await lease.release()
  },
} satisfies Readonly<Record<string, Way>>

export const ways: readonly Way[] = Object.values(askBy)

/** What a race is without any lock. */
export const withoutLock: Way = (_, { keys: [key], stay, signal }) => stay('lock', [key], signal)

function pickOptions({ wait, signal }: Pick<Terms, 'wait' | 'signal'>): Pick<Terms, 'wait' | 'signal'> {
  return { wait, signal }
}

/** Where a race is held. */
export interface Track {
  readonly shop: Shop
  readonly arena: Arena
  readonly ways: readonly Way[]
}

/** Asks in a random way, gives up at a random moment, and stays for a random while. */
export async function race({ shop, arena, ways: allowed }: Track, random: Random): Promise<void> {
  const aborting = new AbortController()
  const reason = new Error('a race')
  const abortsAfterMs = random.next() < 0.5 ? random.next() * 30 : undefined
  const timer =
    abortsAfterMs === undefined ? undefined : setTimeout(() => aborting.abort(reason), abortsAfterMs)
  const first = random.pick(arena.keys)
  const stayMs = random.below(4)
  const stoodStill = watchStandstill()
  const terms: Terms = {
    keys: [first, random.pick(arena.keys)],
    wait: random.pick<Terms['wait']>(['nowait', 'block', { timeoutMs: 1 + random.below(30) }]),
    signal: aborting.signal,
    stay: (kind, keys, held) => stayInside(arena, { kind, keys, held, stayMs }),
  }
  try {
    await random.pick(allowed)(shop, terms)
    arena.tally.granted += 1
  } catch (error) {
    if (error === reason) arena.tally.aborted += 1
    else if (error instanceof LockTimeoutError || error instanceof LockNotAvailableError)
      arena.tally.refused += 1
    // who stood still may have lost what was its own, and is told so
    else if (error instanceof LockLostError && stoodStill()) arena.tally.lost += 1
    else arena.unexpected.push(error)
  } finally {
    clearTimeout(timer)
  }
}

interface Stay {
  readonly kind: 'lock' | 'lease'
  readonly keys: readonly Key[]
  readonly held: AbortSignal
  readonly stayMs: number
}

async function stayInside(arena: Arena, { kind, keys, held, stayMs }: Stay): Promise<void> {
  const names = [...new Set(keys.map((key) => `${kind} ${key.join()}`))]
  for (const name of names) {
    const count = (arena.inside.get(name) ?? 0) + 1
    arena.inside.set(name, count)
    arena.most = Math.max(arena.most, count)
  }
  // a lock that is lost may be another's from now on
  await pause(stayMs, undefined, { signal: held }).catch(() => {})
  for (const name of names) arena.inside.set(name, (arena.inside.get(name) ?? 0) - 1)
}
