import { asError } from '../../core/in-words.ts'
import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause } from '../../core/deadline.ts'
import { LockTimeoutError } from '../../core/errors.ts'
import type { Plan } from '../../core/plan.ts'
import { untilAborted } from '../abort.ts'
import type { Holder } from './holder.ts'
import { within } from '../limit.ts'
import { patiently } from '../open-session.ts'
import {
  answerLimit,
  busy,
  outOfConnections,
  remainingWait,
  timedOut,
  type Ask,
  type Grant,
  type Ground,
} from './ask.ts'
import { take } from './take.ts'
import { keep, repeatOn, settle, tryOn } from './try.ts'
import { withSetting } from '../setting.ts'

/**
 * Has the lock granted on a connection that other locks share, or waits for it on one that nobody else uses.
 *
 * Never waits on a shared one: a statement that waits there would keep back the release that it waits for.
 */
export async function obtain(ground: Ground, ask: Ask): Promise<Grant> {
  const { holders } = ground
  if (!isOwn(ground, ask)) {
    const holder = await reserveAny(ground, ask)
    const grant = await tryOn(ground, ask, holder)
    if (grant !== undefined) return grant
    if (ask.request.wait !== 'nowait' && waitsByItself(ground, ask)) return repeatOn(ground, ask, holder)
    if (ask.request.wait !== 'nowait' && holder.names.size === 1) {
      holders.part(holder)
      return waitOn(ground, ask, holder)
    }
    holder.drop(ask.name)
  }
  if (ask.request.wait === 'nowait') throw busy(ask)
  return waitElsewhere(ground, ask)
}

/** This process holds it, so that the server need not be asked. */
function isOwn({ holders }: Ground, { name }: Ask): boolean {
  return holders.modeOf(name) === 'exclusive'
}

/** Whether it is not the server that waits. */
function waitsByItself(ground: Ground, ask: Ask): boolean {
  return ground.planOf(ask, remainingWait(ask)).waiting.by !== 'server'
}

/** A shared connection with the name reserved on it; a new one where there is none. */
async function reserveAny(ground: Ground, ask: Ask): Promise<Holder> {
  const { holders, patienceMs } = ground
  const limitMs = typeof ask.request.wait === 'object' ? ask.deadline.remainingMs() : patienceMs
  const patience = deadlineIn(limitMs)
  for (;;) {
    const found = holders.find(ask.name)
    if (found !== undefined) {
      found.names.reserve(ask.name)
      return found
    }
    const change = nextChange(ground)
    await patiently(Promise.race([holders.grow(), change.came]), {
      signal: ask.signal,
      patienceMs: patience.remainingMs(),
      purpose: `for the ${ask.label}`,
      tooLate: () => outOfConnections(ground, ask, limitMs),
      leave: () => {},
    }).finally(change.stop)
  }
}

/**
 * Waits on one more connection. The pool may have none to give, now or ever: until it comes, the lock is tried on the
 * shared ones.
 */
async function waitElsewhere(ground: Ground, ask: Ask): Promise<Grant> {
  const { holders } = ground
  const wanted = waitsByItself(ground, ask) ? undefined : holders.want()
  try {
    for (let look = 1; ; look += 1) {
      const arrived = await arrivalOrPause(ground, ask, { look, arrival: wanted?.arrived })
      if (arrived !== undefined) {
        arrived.names.reserve(ask.name)
        return await waitOn(ground, ask, arrived)
      }
      if (ask.deadline.isPast()) throw timedOut(ask)
      if (isOwn(ground, ask)) continue
      if (wanted === undefined) return await repeatOn(ground, ask, await reserveAny(ground, ask))
      const shared = holders.find(ask.name)
      shared?.names.reserve(ask.name)
      const grant = shared && (await tryOn(ground, ask, shared))
      if (grant !== undefined) return grant
      shared?.drop(ask.name)
    }
  } finally {
    wanted?.cancel()
  }
}

/** The connection, or undefined when it is time to look again: after a while, or when this process drops the lock. */
async function arrivalOrPause(
  ground: Ground,
  { name, deadline, signal }: Ask,
  { look, arrival }: { readonly look: number; readonly arrival: Promise<Holder> | undefined },
): Promise<Holder | undefined> {
  const ended = new AbortController()
  const change = nextChange(ground, name.text)
  const pausing = pause(backoffMs(look, { baseMs: 50, capMs: 500 }), deadline, ended.signal).catch(() => {})
  try {
    const first = Promise.race([...(arrival === undefined ? [] : [arrival]), change.came, pausing])
    return (await untilAborted(first, signal, () => {})) ?? undefined
  } finally {
    change.stop()
    ended.abort()
  }
}

/** Waits in the server's own line, on a connection where only this name is reserved. Then others may share it. */
async function waitOn(ground: Ground, ask: Ask, holder: Holder): Promise<Grant> {
  const plan = ground.planOf(ask, remainingWait(ask))
  if (plan.waiting.by !== 'server') {
    ground.holders.join(holder)
    return repeatOn(ground, ask, holder)
  }
  const taking = takeWaiting(ask, holder, plan)
  const attempt = { holder, plan, taking }
  try {
    // only the end of the connection ends the wait
    const isGranted = await within(answerLimit(ask), taking, (why) => holder.fail(why as Error))
    if (!isGranted) throw timedOut(ask)
    const grant = keep(ask, attempt)
    ground.holders.join(holder)
    return grant
  } catch (error) {
    const isAborted = ask.signal?.aborted === true
    const settled = settle(ask, attempt)
    if (!isAborted) await settled
    // until then the server may still give it the lock
    await holder.gone()
    if (isAborted) throw error
    const meaning = ground.meaningOf(error)
    throw meaning instanceof LockTimeoutError && meaning !== error ? timedOut(ask, error) : meaning
  }
}

async function takeWaiting({ signal }: Ask, holder: Holder, plan: Plan): Promise<boolean> {
  const doubt = (why: unknown): void => holder.fail(asError(why))
  return withSetting(holder, plan.setting, { doubt, signal, work: () => take(holder, plan) })
}

/** Fulfilled when a connection comes or goes or a lock is dropped; with a name, when that lock is dropped. */
function nextChange(
  { holders }: Ground,
  text?: string,
): { readonly came: Promise<void>; readonly stop: () => void } {
  const listening: { stop?: () => void } = {}
  const came = new Promise<void>((resolve) => {
    listening.stop = holders.listen((dropped) => {
      if (text === undefined || text === dropped?.text) resolve()
    })
  })
  return { came, stop: () => listening.stop?.() }
}
