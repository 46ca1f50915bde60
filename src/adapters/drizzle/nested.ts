import { AsyncLocalStorage } from 'node:async_hooks'

import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { inTurn, untilNoTurns } from '../turn.ts'

type Work = (tx: object) => unknown

interface Nesting {
  transaction: (work: Work, ...rest: unknown[]) => unknown
}

/** The object that Drizzle gives to nested work is another one, and the same transaction. */
export function withSavepoints<Tx extends object>(tx: Tx): Tx {
  const nesting = tx as unknown as Nesting
  const nest = nesting.transaction
  const isSync = nest.constructor.name !== 'AsyncFunction'
  const nested = (work: Work, inner: object): unknown => {
    noteDerived(inner, tx)
    return work(withSavepoints(inner))
  }
  nesting.transaction = isSync
    ? (work, ...rest) => nest.call(tx, (inner) => notLater(nested(work, inner)), ...rest)
    : (work, ...rest) =>
        afterOthers(tx, () =>
          nest.call(tx, (inner) => toItsEnd(tx, inner, async () => nested(work, inner)), ...rest),
        )
  return tx
}

/** Nested work that is under way, of the transaction `of`. */
interface UnderWay {
  readonly of: object
  readonly outer: UnderWay | undefined
  isOver: boolean
}

/** By the chain of calls. */
const underWay = new AsyncLocalStorage<UnderWay>()

/** Drizzle gives one name to the savepoints of all: of two at once, one that fails would undo the other. */
async function afterOthers(tx: object, nest: () => unknown): Promise<unknown> {
  for (let around = underWay.getStore(); around !== undefined; around = around.outer)
    if (around.of === tx && !around.isOver) throw wouldWaitForItself()
  return inTurn(tx, async () => nest())
}

/** What was nested in `inner`, and not awaited, belongs to what its savepoint is for. */
async function toItsEnd(of: object, inner: object, work: () => Promise<unknown>): Promise<unknown> {
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

/** Drizzle releases the savepoint when the function returns: what comes later would not be rolled back with it. */
function notLater(result: unknown): unknown {
  if (!isPromiseLike(result)) return result
  void result.then(undefined, () => {}) // it is refused whatever becomes of it
  throw new LockUsageError(
    'work',
    'a nested transaction of Drizzle on SQLite ends when its function returns: give it one that is not async',
  )
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | undefined)?.then === 'function'
}
