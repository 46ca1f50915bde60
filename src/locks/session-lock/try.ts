import { asError } from '../../core/in-words.ts'
import { backoffMs } from '../../core/backoff.ts'
import { pause } from '../../core/deadline.ts'
import { NoAnswerError, within } from '../limit.ts'
import type { Holder } from './holder.ts'
import { answerLimit, timedOut, type Ask, type Grant, type Ground } from './ask.ts'
import { giveBack, take } from './take.ts'

/** The server is asked for the lock, on a connection where its name was reserved. */
export interface Attempt extends Grant {
  readonly taking: Promise<boolean>
}

/** Asks once and does not wait. Undefined when another holds it: the name stays reserved. */
export async function tryOn(ground: Ground, ask: Ask, holder: Holder): Promise<Grant | undefined> {
  const plan = ground.planOf(ask, 'nowait')
  const taking = take(holder, plan)
  const attempt = { holder, plan, taking }
  try {
    const isGranted = await within(answerLimit(ask), taking, () => {})
    return isGranted ? keep(ask, attempt) : undefined
  } catch (error) {
    const settled = settle(ask, attempt)
    // Others use the connection too: what was asked is answered soon, or the connection found dead, and settled behind
    // the caller's back.
    if (ask.signal?.aborted === true || error instanceof NoAnswerError) throw error
    await settled
    throw ground.meaningOf(error)
  }
}

/** Asks again and again until the time is over, where the server itself cannot wait for so short a time. */
export async function repeatOn(ground: Ground, ask: Ask, holder: Holder): Promise<Grant> {
  for (let look = 1; ; look += 1) {
    const grant = await tryOn(ground, ask, holder)
    if (grant !== undefined) return grant
    try {
      if (ask.deadline.isPast()) throw timedOut(ask)
      await pause(backoffMs(look, { baseMs: 5, capMs: 50 }), ask.deadline, ask.signal)
    } catch (error) {
      holder.drop(ask.name)
      throw error
    }
  }
}

/** From now on the lock is this process's, and lost with the connection. */
export function keep(ask: Ask, { holder, plan }: Grant): Grant {
  holder.keep(ask.name, { mode: plan.mode, lose: ask.lose })
  return { holder, plan }
}

/**
 * After an error, a timeout or an abort the server may have granted the lock all the same: gives it back, or ends the
 * connection where that cannot be done. Never rejects.
 */
export async function settle(ask: Ask, { holder, plan, taking }: Attempt): Promise<void> {
  try {
    const isGranted = await taking.catch(() => undefined)
    if (isGranted !== false) await giveBack(holder, plan)
    holder.drop(ask.name)
  } catch (error) {
    holder.fail(asError(error))
  }
}
