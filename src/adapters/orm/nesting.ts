import { LockUsageError } from '../../core/errors.ts'
import { floatingFailure } from '../transaction-end.ts'
import { inTurn, untilNoTurns } from '../turn.ts'
import { Traffic } from './traffic.ts'
import { follow, nestedWork, wireOf, type NestedWork } from './wire.ts'

/** Nested work of one transaction, one after another: of two savepoints at once, going back to one would undo the other. */
export async function afterOthers(tx: object, nest: () => unknown): Promise<unknown> {
  for (let around = nestedWork.getStore(); around !== undefined; around = around.outer)
    if (around.of === tx && !around.isOver) throw wouldWaitForItself()
  return follow(tx, () => inTurn(tx, async () => nest()))
}

/** What was started in `inner`, and not awaited, belongs to what its savepoint is for, with all that follows from it. */
export async function toItsEnd(of: object, inner: object, work: () => Promise<unknown>): Promise<unknown> {
  const traffic = new Traffic()
  const self: NestedWork = { of, wire: wireOf(of), outer: nestedWork.getStore(), traffic, isOver: false }
  const [answer] = await Promise.allSettled([nestedWork.run(self, work)])
  traffic.returned()
  await traffic.untilStill(() => untilNoTurns(inner))
  self.isOver = true
  if (answer.status === 'rejected') throw answer.reason
  if (traffic.late !== undefined) throw floatingFailure(traffic.late)
  return answer.value
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
