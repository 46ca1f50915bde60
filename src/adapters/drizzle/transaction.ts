import { LockUsageError } from '../../core/errors.ts'
import { noteDerived } from '../../core/derived.ts'
import { rewordable } from '../orm/rewording.ts'

/** What is used of a Drizzle session, which its typings keep to themselves. */
export interface DrizzleSession {
  client: object
  transaction(work: (tx: object) => unknown): unknown
}

/** Answers `begin` and `commit` of Drizzle itself, which has no other way to make a transaction's object. */
const silent = {
  query: async () => Object.assign([{}], { rows: [] }),
  transaction: (work: (tx: object) => unknown) => ({ deferred: work }),
}

/** Drizzle's own transaction object, on a connection that somebody else begins and ends the transaction on. */
export async function transactionOn(session: DrizzleSession, connection: object): Promise<object> {
  // all that Drizzle was told, such as schema, logger and cache, is in its session
  const own = Object.create(
    Object.getPrototypeOf(session) as object,
    Object.getOwnPropertyDescriptors(session),
  ) as DrizzleSession
  own.client = silent
  let given: object | undefined
  await own.transaction((tx) => {
    given = tx
  })
  if (given === undefined)
    throw new LockUsageError('db', 'its transactions are not those of drizzle-orm 0.4x')
  own.client = rewordable(connection)
  return withSavepoints(given)
}

interface Nesting {
  transaction: (this: object, work: (tx: object) => unknown, ...rest: unknown[]) => unknown
}

/** The object that Drizzle gives to nested work is another one, and the same transaction. */
function withSavepoints<Tx extends object>(tx: Tx): Tx {
  const nesting = tx as unknown as Nesting
  const nest = nesting.transaction
  const isSync = nest.constructor.name !== 'AsyncFunction'
  nesting.transaction = (work, ...rest) => {
    const nested = (inner: object): unknown => {
      noteDerived(inner, tx)
      const result = work(withSavepoints(inner))
      if (isSync && isPromiseLike(result)) throw endsTooSoon(result)
      return result
    }
    return nest.call(tx, nested, ...rest)
  }
  return tx
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | undefined)?.then === 'function'
}

/** Drizzle releases the savepoint when the function returns: what comes later would not be rolled back with it. */
function endsTooSoon(work: PromiseLike<unknown>): LockUsageError {
  void work.then(undefined, () => {}) // it is refused whatever becomes of it
  return new LockUsageError(
    'work',
    'a nested transaction of Drizzle on SQLite ends when its function returns: give it one that is not async',
  )
}
