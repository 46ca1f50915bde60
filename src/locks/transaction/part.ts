import { setImmediate as nextRound } from 'node:timers/promises'

import { LockUsageError } from '../../core/errors.ts'
import { LockContention } from '../contention.ts'
import type { OpenTransaction } from '../port.ts'

/**
 * Makes a call of `locks` a part of an open transaction: COMMIT waits for it. What it rejects with is the transaction's
 * own error, and so a reason to run it again.
 */
export function partOf<T>(open: OpenTransaction<unknown>, call: () => Promise<T>): Promise<T> {
  return add(open, call, (error) => {
    ;(open.refusals ??= []).push(error)
    // work that catches it has gone on without what it asked for
    if (error instanceof LockContention) open.doom ??= { why: error }
  })
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
 * The work has returned. Waits for the calls and statements that it has left under way, and for those that follow from
 * them: what fails from now on, nobody waits for. Undefined where there is nothing to wait for.
 */
export function untilIdle(open: OpenTransaction<unknown>): Promise<void> | undefined {
  const { session, parts, doom } = open
  const idle = session.untilIdle?.()
  const isIdle = idle === undefined && (parts === undefined || parts.size === 0)
  return isIdle && doom === undefined ? undefined : untilAllIdle(open, idle)
}

async function untilAllIdle(
  open: OpenTransaction<unknown>,
  statements: Promise<void> | undefined,
): Promise<void> {
  const late = (open.late ??= [])
  if (statements !== undefined) await statements
  while (open.parts !== undefined && open.parts.size > 0) {
    await Promise.allSettled(open.parts)
    // whoever waited for these goes on now
    await nextRound()
    await open.session.untilIdle?.()
  }
  if (open.doom !== undefined) late.unshift(open.doom.why)
  if (late.length === 0) return
  // it is the way to wait for a lock, and no failure
  throw late.find((error) => error instanceof LockContention) ?? notAwaited(late[0])
}

function notAwaited(cause: unknown): LockUsageError {
  return new LockUsageError(
    'transaction',
    'a call on locks failed that the work did not await, or whose error it caught: nothing is stored',
    { cause },
  )
}
