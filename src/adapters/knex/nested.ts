import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import {
  afterOthers,
  isPromiseLike,
  otherTerms,
  refuseEnd,
  toItsEnd,
  withoutFunction,
} from '../orm/nesting.ts'
import type { NestedWork } from '../orm/wire.ts'

/** What Knex calls a transaction. */
export interface Trx {
  readonly isTransaction?: boolean
  executionPromise: Promise<unknown>
  isCompleted: () => boolean
  commit: (value?: unknown) => unknown
  rollback: (error?: unknown) => unknown
  savepoint: (scope: unknown, config?: object) => unknown
  /** Where a function of Knex's keeps what is called on it. */
  readonly context: {
    transaction: (scope: unknown, config?: object) => unknown
    transactionProvider: (config?: object) => unknown
  }
}

type Scope = (inner: Trx) => unknown

interface Terms {
  readonly isolationLevel?: unknown
  readonly readOnly?: unknown
}

/** Knex ends nested work by these when its function is over: what the function does behind one of them would be lost. */
function keepEnds(inner: Trx): () => void {
  const { commit, rollback } = inner
  inner.commit = () => refuseEnd('commit')
  inner.rollback = () => refuseEnd('rollback')
  return () => void Object.assign(inner, { commit, rollback })
}

/** What Knex gives to nested work is another object, and the same transaction. */
export function withSavepoints(trx: Trx): Trx {
  const { context } = trx
  const nest = context.transaction.bind(context)
  const run = (self: NestedWork, scope: Scope, config?: object): unknown =>
    nest((inner: Trx) => {
      const giveBack = keepEnds(inner)
      return toItsEnd(self, inner, () => nested(scope, inner, trx)).finally(giveBack)
    }, config)
  context.transaction = async (scope, config) => {
    if (typeof scope !== 'function') throw withoutFunction()
    const { isolationLevel, readOnly } = (config ?? {}) as Terms
    if (isolationLevel !== undefined || readOnly !== undefined) throw otherTerms()
    return afterOthers(trx, (self) => run(self, scope as Scope, config))
  }
  context.transactionProvider = () => {
    throw withoutFunction()
  }
  trx.savepoint = context.transaction
  return trx
}

async function nested(scope: Scope, inner: Trx, trx: Trx): Promise<unknown> {
  noteDerived(inner, trx)
  const result = scope(withSavepoints(inner))
  if (isPromiseLike(result)) return result
  throw new LockUsageError('work', 'a nested transaction of Knex needs a function that gives a promise')
}
