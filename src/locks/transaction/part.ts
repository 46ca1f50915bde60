import { LockUsageError } from '../../core/errors.ts'
import { LockContention } from '../contention.ts'
import type { OpenTransaction } from '../port.ts'

/**
 * Makes a call of `locks` a part of an open transaction: COMMIT waits for it. What it rejects with is the transaction's
 * own error, and so a reason to run it again.
 */
export function partOf<T>(open: OpenTransaction<unknown>, call: () => Promise<T>): Promise<T> {
  return add(open, call, (error) => void (open.refusals ??= []).push(error))
}

/** The same for a call that runs work of the caller's besides: what that throws is not the transaction's own. */
export function stepsOf<T>(open: OpenTransaction<unknown>, call: () => Promise<T>): Promise<T> {
  return add(open, call, () => {})
}

function add<T>(
  open: OpenTransaction<unknown>,
  call: () => Promise<T>,
  refused: (error: unknown) => void,
): Promise<T> {
  if (open.onLeave === undefined) return Promise.reject(new LockUsageError('tx', 'the transaction has ended'))
  const part = call()
  const parts = (open.parts ??= new Set())
  parts.add(part)
  // before whoever has called: it was there first
  part.then(
    () => parts.delete(part),
    (error: unknown) => {
      parts.delete(part)
      open.late?.push(error)
      refused(error)
    },
  )
  return part
}

/**
 * Waits for the calls that the work has left under way, and for those that start meanwhile. The work has returned: what
 * fails from now on, nobody waits for.
 */
export async function untilNoParts(open: OpenTransaction<unknown>): Promise<void> {
  const late = (open.late = [] as unknown[])
  while (open.parts !== undefined && open.parts.size > 0) await Promise.allSettled(open.parts)
  if (open.doom !== undefined) late.unshift(open.doom.why)
  if (late.length === 0) return
  // it is the way to wait for a lock, and no failure
  throw late.find((error) => error instanceof LockContention) ?? notAwaited(late[0])
}

function notAwaited(cause: unknown): LockUsageError {
  return new LockUsageError(
    'transaction',
    'a call of locks has failed that the work did not wait for, or whose error it has caught: nothing is stored',
    { cause },
  )
}
