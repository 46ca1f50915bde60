import { classifyFor } from '../../core/classify.ts'
import type { Deadlock } from '../../core/deadlock.ts'
import type { OpenTransaction } from '../port.ts'
import { isDeadlock, type Loss } from './loss.ts'

/** What was found out, by the driver's own error: the one that the caller sees is made of that later. */
const known = new WeakMap<object, Deadlock>()

/**
 * Finds out about the deadlock that an attempt has lost to, on its own connection after the rollback: nobody else has to
 * give one up, and what others waited for is still theirs to wait for. Undefined where it was none. Never rejects, and
 * takes no longer than a second.
 */
export function examineDeadlock(open: OpenTransaction<unknown>, loss: Loss): Promise<void> | undefined {
  const { kind, original } = classifyFor(loss.error, open.dialect)
  if (kind !== 'deadlock' || loss.options.signal?.aborted === true) return undefined
  return examine(open, loss, original)
}

async function examine(open: OpenTransaction<unknown>, loss: Loss, original: unknown): Promise<void> {
  try {
    // what few ever need is loaded when it is
    const { examineLoss } = await import('./examine.ts')
    const deadlock = await examineLoss(open, loss, original)
    if (deadlock !== undefined && typeof original === 'object' && original !== null)
      known.set(original, deadlock)
  } catch {
    // the caller has to hear of the deadlock, and not of what went wrong when it was looked into
  }
}

/** The same error, which tells of its deadlock where that was looked into. */
export function withDeadlock(error: unknown): unknown {
  const deadlock = isDeadlock(error) ? known.get(error.cause as object) : undefined
  return deadlock === undefined ? error : Object.assign(error as Error, { deadlock })
}
