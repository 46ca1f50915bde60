import { forget, type Aside, type Grant } from '../lease/acquire.ts'
import type { LeaseShop } from '../lease/wait.ts'

/** A permit as it was granted. */
export interface Taken {
  readonly slot: number
  readonly grant: Grant
}

/**
 * The requests of one search whose answers take long: a transaction may be open under a permit that has ended, and the
 * server then lets nobody take it over. Another slot may be free by then, so none of them is waited for.
 */
export interface SlowRequests {
  /** Whether this process still waits to hear of that slot. */
  readonly isAsked: (slot: number) => boolean
  readonly isAnyAsked: () => boolean
  /** Whether there are as many as there may be: each takes a connection that others need. */
  readonly isEnough: () => boolean
  /** What ended the last request before it was known who has the slot; undefined where that is known. */
  readonly noteUnsure: (why: unknown) => void
  readonly unsure: () => unknown
  readonly aside: (slot: number) => Aside
  /** A permit that was granted late. */
  readonly granted: () => Taken | undefined
  /** Nothing more is wanted. What is granted all the same is released. */
  readonly end: () => void
}

export interface SlowTerms {
  readonly shop: LeaseShop
  /** What this process calls the semaphore. */
  readonly lane: string
  readonly ttlMs: number
  /** Told of each slot that was heard of. */
  readonly onAnswer: (slot: number) => void
}

/** How long the answer to a request is waited for. */
const slowMs = 1000
/** Of one semaphore, at a time. */
const maxAsked = 2

/** The slots of which this process waits to hear, by what it calls the semaphore: each search finds those of others. */
const askedSlots = new Map<string, Set<number>>()

export function createSlowRequests({ shop, lane, ttlMs, onAnswer }: SlowTerms): SlowRequests {
  const late: Taken[] = []
  let isOver = false
  let unsure: unknown
  const asked = (): ReadonlySet<number> | undefined => askedSlots.get(lane)
  return {
    isAsked: (slot) => asked()?.has(slot) === true,
    isAnyAsked: () => asked() !== undefined,
    isEnough: () => (asked()?.size ?? 0) >= maxAsked,
    noteUnsure: (why) => {
      unsure = why
    },
    unsure: () => unsure,
    granted: () => late.shift(),
    aside: (slot) => ({
      afterMs: slowMs,
      begun: () => void askedSlots.set(lane, new Set(asked()).add(slot)),
      ended: (grant) => {
        noteAnswer(lane, slot)
        if (grant !== undefined && !isOver) late.push({ slot, grant })
        onAnswer(slot)
        return !isOver
      },
    }),
    end: () => {
      isOver = true
      for (const { grant } of late) void forget(shop.port, { ...grant.held, ttlMs })
    },
  }
}

function noteAnswer(lane: string, slot: number): void {
  const slots = askedSlots.get(lane)
  slots?.delete(slot)
  if (slots?.size === 0) askedSlots.delete(lane)
}
