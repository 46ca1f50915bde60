import { setImmediate as nextRound } from 'node:timers/promises'

import { checkDuration } from '../core/check-field.ts'
import { moveForward, performance, watchTimers } from '../core/clock.ts'

interface Pending {
  readonly fire: () => void
  readonly dueAt: number
  /** Fires it when its time has come sooner than it was told. */
  early?: NodeJS.Timeout
}

const timers = new Map<NodeJS.Timeout, Pending>()

/** From now on Holdfast's timers in this process can be fired before their time. */
export function followTimers(): void {
  watchTimers({
    started: (timer, fire, ms) => void timers.set(timer, { fire, dueAt: performance.now() + ms }),
    ended: forget,
  })
}

function forget(timer: NodeJS.Timeout): void {
  clearTimeout(timers.get(timer)?.early)
  timers.delete(timer)
}

/**
 * Moves the time of Holdfast in this process forward. What would have happened until then happens, in its order: leases
 * expire, waits end, pauses are over, and renewals are sent in time.
 */
export async function advance(ms: number): Promise<void> {
  const target = performance.now() + checkDuration('ms', ms)
  await settled()
  for (let next = firstDue(target); next !== undefined; next = firstDue(target)) {
    const [timer, { fire, dueAt }] = next
    moveForward(Math.max(0, dueAt - performance.now()))
    clearTimeout(timer)
    forget(timer)
    fire()
    await settled()
  }
  moveForward(Math.max(0, target - performance.now()))
  for (const [timer, pending] of timers) hurry(timer, pending)
}

function firstDue(target: number): [NodeJS.Timeout, Pending] | undefined {
  let first: [NodeJS.Timeout, Pending] | undefined
  for (const entry of timers) {
    if (entry[1].dueAt <= target && (first === undefined || entry[1].dueAt < first[1].dueAt)) first = entry
  }
  return first
}

/** Node counts from when it was started, and knows nothing of the time in between. */
function hurry(timer: NodeJS.Timeout, pending: Pending): void {
  clearTimeout(pending.early)
  pending.early = setTimeout(() => {
    clearTimeout(timer)
    forget(timer)
    pending.fire()
  }, pending.dueAt - performance.now())
  if (!timer.hasRef()) pending.early.unref()
}

/** Until what follows from the last step has been done. The memory answers without waiting for anything. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 8; round += 1) await nextRound()
}
