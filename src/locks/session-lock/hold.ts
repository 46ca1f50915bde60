import { asError } from '../../core/in-words.ts'
import { LockLostError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import { createHandle, type Releasable } from '../handle.ts'
import { receiptOf } from '../rows/rows.ts'
import type { Ask, Grant } from './ask.ts'
import { giveBack } from './take.ts'

/** A lock that is held. */
export interface Held extends Releasable {
  /** The key that it was taken with. */
  readonly key: LockKey
  /** What was really taken. */
  readonly receipt: Receipt
  /** Aborts with {@link LockLostError} when the lock is lost, as with the connection that holds it: stop writing. */
  readonly signal: AbortSignal
}

/** Whether a lock is still held. */
export interface Hold {
  readonly signal: AbortSignal
  readonly lose: (why: Error) => void
  /** It was given back, or never granted. */
  readonly end: () => void
}

/** `onEnd` is told once, however it ends. */
export function createHold(label: string, onEnd: (isLost: boolean) => void): Hold {
  const lost = new AbortController()
  let isOver = false
  const over = (isLost: boolean): void => {
    if (!isOver) onEnd(isLost)
    isOver = true
  }
  return {
    signal: lost.signal,
    end: () => over(false),
    lose: (cause) => {
      over(true)
      lost.abort(new LockLostError(`${label} is lost: the connection that held it is gone`, { cause }))
    },
  }
}

/** What the caller gets for a lock that was granted. */
export function heldOf(
  ask: Ask,
  { hold, grant }: { readonly hold: Hold; readonly grant: Grant },
  { waitedMs, releaseWithinMs }: { readonly waitedMs: number; readonly releaseWithinMs: number },
): Held {
  const { plan, holder } = grant
  const { key, mode } = ask.request
  const receipt = receiptOf(plan, { mode }, { statements: plan.beforeBegin, waitedMs })
  const { signal } = hold
  return createHandle(
    { key, receipt, signal },
    {
      name: `the ${ask.label}`,
      signal,
      releaseWithinMs,
      release: () => release(ask, hold, grant),
      abandon: holder.fail,
    },
  )
}

/** A lock that the server does not know of was lost at some time: what else the connection holds is in doubt too. */
async function release({ name }: Ask, hold: Hold, { holder, plan }: Grant): Promise<void> {
  hold.signal.throwIfAborted()
  try {
    if (!(await giveBack(holder, plan))) throw new Error('the server does not know of it')
  } catch (error) {
    holder.fail(asError(error))
    hold.signal.throwIfAborted()
    throw error
  }
  hold.end()
  holder.drop(name)
}
