import { noteDerived } from '../../core/derived.ts'
import { LockUsageError } from '../../core/errors.ts'
import { afterOthers, isPromiseLike, otherTerms, toItsEnd } from '../orm/nesting.ts'

type Work = (tx: object) => unknown

interface Nesting {
  transaction: (work: Work, ...rest: unknown[]) => unknown
}

/** The object that Drizzle gives to nested work is another one, and the same transaction. */
export function withSavepoints<Tx extends object>(tx: Tx): Tx {
  const nesting = tx as unknown as Nesting
  const nest = nesting.transaction
  const isSync = !isAsync(nest)
  const nested = (work: Work, inner: object): unknown => {
    noteDerived(inner, tx)
    return work(withSavepoints(inner))
  }
  nesting.transaction = isSync
    ? (work, ...rest) => {
        // not begun at all: what it does behind its first await would be stored
        if (isAsync(work)) throw endsAtReturn()
        return nest.call(tx, (inner) => notLater(nested(work, inner)), ...rest)
      }
    : async (work, terms) => {
        if (terms !== undefined) throw otherTerms()
        // Drizzle gives one name to the savepoints of all
        return afterOthers(tx, (self) =>
          nest.call(tx, (inner) => toItsEnd(self, inner, async () => nested(work, inner))),
        )
      }
  return tx
}

/** Drizzle releases the savepoint when the function returns: what comes later would not be rolled back with it. */
function notLater(result: unknown): unknown {
  if (!isPromiseLike(result)) return result
  void result.then(undefined, () => {}) // it is refused whatever becomes of it
  throw endsAtReturn()
}

function isAsync(work: { readonly constructor: { readonly name: string } }): boolean {
  return work.constructor.name === 'AsyncFunction'
}

function endsAtReturn(): LockUsageError {
  return new LockUsageError(
    'work',
    'a nested transaction of Drizzle on SQLite ends when its function returns: give it one that is not async',
  )
}
