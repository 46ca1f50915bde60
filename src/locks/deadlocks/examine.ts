import { channel } from 'node:diagnostics_channel'

import type { Deadlock } from '../../core/deadlock.ts'
import type { RetryableTransactionError } from '../../core/errors.ts'
import { unwrap } from '../../core/unwrap.ts'
import type { OpenTransaction } from '../port.ts'
import { autopsy } from './autopsy.ts'
import { isDeadlock, type Loss } from './loss.ts'

/** Whoever subscribes is told of each deadlock that an attempt has lost to, also of attempts that are repeated. */
const published = channel('holdfast:deadlock')

/** What there is to know of a deadlock, told to all who want to. Undefined where nobody does, or nothing is known. */
export async function examineLoss(
  open: OpenTransaction<unknown>,
  loss: Loss,
  original: unknown,
): Promise<Deadlock | undefined> {
  if (!published.hasSubscribers && !(mayBeLast(loss) && isSeen(loss))) return undefined
  const deadlock = await autopsy(open, { original, budget: loss.budget })
  if (deadlock === undefined) return undefined
  for (const error of deadlocksIn(loss)) Object.assign(error, { deadlock })
  if (published.hasSubscribers) published.publish(deadlock)
  return deadlock
}

/** Where time is short, the pause may be longer than what is left of it: then there is no other attempt. */
function mayBeLast({ isLast = false, budget, options }: Loss): boolean {
  return isLast || (budget?.remainingMs() ?? Infinity) <= (options.backoff?.capMs ?? 1000)
}

/** Whether the caller is to see an error that can tell of it. */
function isSeen(loss: Loss): boolean {
  return loss.thrown === undefined || deadlocksIn(loss).length > 0
}

/** The errors of ours among what the caller is to see. */
function deadlocksIn({ error, thrown = error }: Loss): readonly RetryableTransactionError[] {
  return unwrap(thrown).flatMap(({ error: layer }) => (isDeadlock(layer) ? [layer] : []))
}
