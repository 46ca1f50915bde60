import { LockUsageError } from '../../core/errors.ts'
import { floatingFailure } from '../transaction-end.ts'
import { inTurn, untilNoTurns } from '../turn.ts'
import { Traffic } from './traffic.ts'
import { followCall, nestedWork, wireOf, type NestedWork } from './wire.ts'

/**
 * Nested work of one transaction, one after another: of two savepoints at once, going back to one would undo the other.
 * `nest` is given what it hands on to {@link toItsEnd}.
 */
export async function afterOthers(tx: object, nest: (self: NestedWork) => unknown): Promise<unknown> {
  for (let around = nestedWork.getStore(); around !== undefined; around = around.outer)
    if (around.of === tx && !around.isOver) throw wouldWaitForItself()
  return followCall(tx, () => inTurn(tx, () => fromSavepoint(tx, nest)))
}

/**
 * Its savepoint is set before the ORM calls the work, and gone back to behind it, also where RELEASE fails: what others
 * send in all that time would be undone with it.
 */
async function fromSavepoint(of: object, nest: (self: NestedWork) => unknown): Promise<unknown> {
  const wire = wireOf(of)
  const outer = nestedWork.getStore()
  const self: NestedWork = { of, wire, outer, traffic: new Traffic(), hasOthers: false, isOver: false }
  const [answer] = await Promise.allSettled([nestedWork.run(self, async () => nest(self))])
  self.isOver = true
  wire?.leave(self, answer.status === 'rejected')
  if (answer.status === 'rejected') throw answer.reason
  return answer.value
}

/** What was started in `inner`, and not awaited, belongs to what its savepoint is for, with all that follows from it. */
export async function toItsEnd(
  self: NestedWork,
  inner: object,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const { traffic, wire } = self
  // an ORM may call it from elsewhere, and from there have set the savepoint
  wire?.enter(self)
  const [answer] = await Promise.allSettled([nestedWork.run(self, work)])
  traffic.returned()
  await traffic.untilStill(() => untilNoTurns(inner))
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

/** Refuses the end of a transaction to its work. */
export function refuseEnd(name: string): never {
  throw new LockUsageError(
    'tx',
    `${name} must not be called by the work: return to commit, throw to roll back`,
  )
}

/** Nobody would know when it ends, and COMMIT would come in between. */
export function withoutFunction(): LockUsageError {
  return new LockUsageError(
    'work',
    'a nested transaction without a function is not available here: call transaction with one',
  )
}

/** ORMs leave it out of a savepoint without a word. */
export function otherTerms(): LockUsageError {
  return new LockUsageError(
    'isolation',
    'a nested transaction has the isolation level and the access mode of the outer one: leave them out',
  )
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | undefined)?.then === 'function'
}
