import {
  sessions,
  type MongodbClient,
  type MongodbDatabase,
  type MongodbSession,
  type MongodbSessionOptions,
  type MongodbTransaction,
} from '../adapters/mongodb/sessions.ts'
import type { Row } from '../core/statement.ts'
import { mongodb } from '../dialects/mongodb/index.ts'
import { meet, type Locks, type LocksOptions, type RowOptionsOf } from '../locks.ts'
import { isDocumentQuery, lockDocuments, type DocumentQuery } from '../locks/rows/documents.ts'
import { isTarget, lockingRead, type RowQuery } from '../locks/rows/query.ts'
import type { LockedRows, RowOptions } from '../locks/rows/rows.ts'

export {
  sessions,
  type MongodbClient,
  type MongodbDatabase,
  type MongodbSession,
  type MongodbSessionOptions,
  type MongodbTransaction,
} from '../adapters/mongodb/sessions.ts'
export { withTxRetry } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'
export { queue } from '../locks/queue/queue.ts'
export type { DocumentQuery } from '../locks/rows/documents.ts'
export type * from '../result-types.ts'

/** What `createLocks` may be told of the server, and which database it uses. */
export interface MongodbLocksOptions extends LocksOptions<'mongodb'>, MongodbSessionOptions {}

/** Locks on MongoDB, where rows are documents, and a filter can name them too. */
export interface MongodbLocks<Tx> extends Locks<Tx, 'mongodb'> {
  readonly rows: <R extends object = Row>(
    tx: Tx,
    query: RowQuery | DocumentQuery,
    options?: RowOptionsOf<'mongodb'>,
  ) => Promise<LockedRows<R>>
}

/** Locks on a MongoDB replica set. The work receives `{ session, db }`: pass the session to every call. */
export function createLocks<S extends MongodbSession, D extends MongodbDatabase<S>>(
  client: MongodbClient<S, D>,
  options?: MongodbLocksOptions,
): MongodbLocks<MongodbTransaction<S, D>> {
  type Tx = MongodbTransaction<S, D>
  const told = checkLocksOptions(options, 'database')
  const { shared, find, lockRows, planRows, lockTable } = meet(sessions(client, told), [mongodb], told)
  const lock = (tx: Tx, query: RowQuery, rowOptions: RowOptions): Promise<LockedRows<Row>> => {
    const target = isTarget(query) ? query : undefined
    return lockRows(tx, { target, options: rowOptions, readOf: (plan) => lockingRead(query, plan) })
  }
  return {
    ...shared,
    table: lockTable,
    rows: async <R extends object>(tx: Tx, query: RowQuery | DocumentQuery, rowOptions: RowOptions = {}) => {
      if (!isDocumentQuery(query)) return (await lock(tx, query, rowOptions)) as LockedRows<R>
      const open = find(tx)
      const locked = await lockDocuments(open, query, {
        options: rowOptions,
        planFor: (target) => planRows(open, rowOptions, target),
        lock: (target) => lock(tx, target, rowOptions),
      })
      return locked as LockedRows<R>
    },
  }
}
