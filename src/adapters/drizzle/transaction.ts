import { LockUsageError } from '../../core/errors.ts'
import { withSavepoints } from './nested.ts'

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
  const own = Object.assign(
    Object.create(Object.getPrototypeOf(session) as object) as DrizzleSession,
    session,
  )
  own.client = silent
  let given: object | undefined
  await own.transaction((tx) => {
    given = tx
  })
  if (given === undefined)
    throw new LockUsageError('db', 'its transactions are not those of drizzle-orm 0.4x')
  own.client = connection
  return withSavepoints(given)
}
