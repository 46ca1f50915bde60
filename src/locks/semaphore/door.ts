import { EventEmitter, once } from 'node:events'
import { clearTimeout, performance, setTimeout } from '../../core/clock.ts'
import { LockLostError, LockNotAvailableError } from '../../core/errors.ts'
import { forget, type Grant } from '../lease/acquire.ts'
import type { Watch } from '../lease/bell.ts'
import type { Lease } from '../lease/lease.ts'
import { marginMs } from '../lease/validity.ts'
import { pollMs } from '../lease/wait.ts'
import { within } from '../limit.ts'
import { look, takeOne, type Search, type Seen } from './slots.ts'
import type { Taken } from './slow.ts'

/**
 * How long a process that dies as the first in the line holds up those behind it: a tenth of the time that one does who
 * dies with a permit. One that lives confirms the lease of the door again and again, and loses its place when it is held
 * up for longer than that.
 */
function doorTtlMs({ ttlMs }: Search['asked']): number {
  return Math.max(2000, Math.ceil(ttlMs / 10))
}

/** How much longer than asked somebody waits so as to have left the door: whoever asks again is not to find it taken. */
export const leaveMs = 1000

/** The semaphores for which somebody of this process is in the line, by what the process calls them. */
const waitedFor = new Set<string>()
/** Tells who comes there. */
const comers = new EventEmitter().setMaxListeners(0)

/** Whether somebody of this process waits for such a permit. */
export function isAnybodyWaiting(lane: string): boolean {
  return waitedFor.has(lane)
}

/** Resolves when somebody of this process comes to wait for such a permit; rejects when the signal aborts. */
export async function untilAnybodyWaits(lane: string, signal: AbortSignal): Promise<void> {
  await once(comers, lane, { signal })
}

/** Stands in the line of all processes, and takes the first permit that is free once it is first. */
export async function takeAtDoor(search: Search): Promise<Taken> {
  const { lane } = search
  waitedFor.add(lane)
  comers.emit(lane)
  try {
    for (;;) {
      const taken = await standAndLeave(search, await comeToDoor(search))
      if (taken !== undefined) return taken
    }
  } finally {
    waitedFor.delete(lane)
  }
}

function comeToDoor({ leases, asked, names, deadline }: Search): Promise<Lease> {
  const leftMs = deadline.remainingMs()
  const wait = Number.isFinite(leftMs) ? { timeoutMs: Math.max(1, Math.ceil(leftMs)) } : 'block'
  const { key, signal } = asked
  return leases.take({
    key,
    name: names.door,
    noun: 'lock',
    options: { ttlMs: doorTtlMs(asked), wait, ...(signal && { signal }) },
  })
}

async function standAndLeave(search: Search, door: Lease): Promise<Taken | undefined> {
  let taken: Taken | undefined
  try {
    taken = await stand(search, door)
    if (taken !== undefined && search.kind === 'shared') taken = await confirm(search, door, taken)
    return taken
  } finally {
    await leave(search, door, taken)
  }
}

/**
 * Nobody gets a shared lock but by the door, which its exclusive holder keeps shut. Whoever was held up between the door
 * and the slot may have lost the door to such a holder by then, who has seen the slot free.
 */
async function confirm(search: Search, door: Lease, taken: Taken): Promise<Taken | undefined> {
  const { shop, asked } = search
  try {
    if ((await isStillOurs(search, door)) && validMs(taken.grant, asked.ttlMs) > 0) return taken
  } catch (error) {
    void forget(shop.port, { ...taken.grant.held, ttlMs: asked.ttlMs })
    throw error
  }
  void forget(shop.port, { ...taken.grant.held, ttlMs: asked.ttlMs })
  return undefined
}

/** Asks the server. Rejects when that takes longer than somebody waits. */
export async function isStillOurs(
  { asked, deadline }: Pick<Search, 'asked' | 'deadline'>,
  door: Lease,
): Promise<boolean> {
  try {
    await within({ ms: deadline.remainingMs(), signal: asked.signal }, door.extend(), () => {})
    return true
  } catch (error) {
    if (error instanceof LockLostError) return false
    throw error
  }
}

/** Before the work begins: it may need the only connection for longer than the door stays shut by itself. */
async function leave({ asked, deadline }: Search, door: Lease, taken?: Taken): Promise<void> {
  // a permit is not renewed before its holder has it
  const worthMs = taken === undefined ? Infinity : validMs(taken.grant, asked.ttlMs) / 3
  const ms = Math.min(door.remainingMs(), Math.max(leaveMs, deadline.remainingMs()), worthMs)
  const left = door.release()
  // nobody need know of a door that could not be left: it opens by itself
  await within({ ms, signal: asked.signal }, left, () => {}).catch(() => {})
}

/** How long it may be relied on by now. */
function validMs({ sentAt }: Grant, ttlMs: number): number {
  return sentAt + ttlMs - marginMs(ttlMs) - performance.now()
}

/** Waits at the door until a permit is free. Undefined when the door was lost: then another is first by now. */
async function stand(search: Search, door: Lease): Promise<Taken | undefined> {
  const { shop, names, asked, deadline } = search
  const sleeper = createSleeper(asked.signal)
  const watch = shop.bell.watch({ concerns: names.includes, wake: sleeper.wake })
  try {
    for (let looks = 1; door.remainingMs() > 0; looks += 1) {
      sleeper.expect()
      const seen = await look(search)
      const taken = await takeOne(search, seen)
      if (taken !== undefined) return taken
      if (deadline.isPast()) throw new LockNotAvailableError('all permits are taken')
      // others were faster, who had looked before this one came to the door
      if (seen.free.length > 0) continue
      await rest({ sleeper, watch, deadline }, seen, looks)
    }
    return undefined
  } finally {
    watch.leave()
  }
}

/** Who looks again and again, and what tells it to. */
export interface Resting extends Pick<Search, 'deadline'> {
  readonly sleeper: Sleeper
  readonly watch: Watch
}

/** Rests after look number `looks`: until something is released or ends by itself, or the time is over. */
export async function rest(
  { sleeper, watch, deadline }: Resting,
  { topic, leftMs = Infinity }: Seen,
  looks: number,
): Promise<void> {
  const quietMs = pollMs(watch.isTold() ? Infinity : looks)
  // what was released before somebody listened is seen by looking once more
  if (await watch.listen(topic, Math.min(quietMs, deadline.remainingMs()))) return
  await sleeper.sleep(Math.min(quietMs, leftMs, deadline.remainingMs()))
}

export interface Sleeper {
  readonly wake: () => void
  /** What has woken it until now counts no longer. */
  readonly expect: () => void
  /** Sleeps until it is woken, or for so long. Rejects with the signal's reason when it aborts. */
  readonly sleep: (ms: number) => Promise<void>
}

export function createSleeper(signal: AbortSignal | undefined): Sleeper {
  let isWoken = false
  let goOn: (() => void) | undefined
  const wake = (): void => {
    isWoken = true
    goOn?.()
  }
  return {
    wake,
    expect: () => void (isWoken = false),
    sleep: async (ms) => {
      signal?.throwIfAborted()
      if (isWoken) return
      signal?.addEventListener('abort', wake, { once: true })
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.ceil(ms))
        goOn = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      signal?.removeEventListener('abort', wake)
      signal?.throwIfAborted()
    },
  }
}
