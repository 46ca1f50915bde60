import { AsyncLocalStorage } from 'node:async_hooks'

import { LockUsageError } from '../../core/errors.ts'
import { inTurn, untilNoTurns } from '../turn.ts'

/** Nested work that is under way, of the transaction `of`. */
interface UnderWay {
  readonly of: object
  readonly outer: UnderWay | undefined
  isOver: boolean
}

/** By the chain of calls. */
const underWay = new AsyncLocalStorage<UnderWay>()

/** Nested work of one transaction, one after another: of two savepoints at once, going back to one would undo the other. */
export async function afterOthers(tx: object, nest: () => unknown): Promise<unknown> {
  for (let around = underWay.getStore(); around !== undefined; around = around.outer)
    if (around.of === tx && !around.isOver) throw wouldWaitForItself()
  return inTurn(tx, async () => nest())
}

/** What was nested in `inner`, and not awaited, belongs to what its savepoint is for. */
export async function toItsEnd(of: object, inner: object, work: () => Promise<unknown>): Promise<unknown> {
  const self: UnderWay = { of, outer: underWay.getStore(), isOver: false }
  try {
    return await underWay.run(self, work)
  } finally {
    await untilNoTurns(inner)
    self.isOver = true
  }
}

function wouldWaitForItself(): LockUsageError {
  return new LockUsageError(
    'tx',
    'a nested transaction of it is under way, and this call is inside of that: call transaction of the one that it was given',
  )
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | undefined)?.then === 'function'
}
