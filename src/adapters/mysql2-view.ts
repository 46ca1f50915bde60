import { LockUsageError } from '../core/errors.ts'
import { hasEnded } from './transaction-body.ts'
import { refusedEnding, viewOf, type Method } from './transaction-view.ts'

/** The methods that send something, of a connection and of a prepared statement. */
const sending = new Set<PropertyKey>([
  'query',
  'execute',
  'prepare',
  'beginTransaction',
  'commit',
  'rollback',
  'ping',
])

/** What makes the session as good as new: the server rolls back, and takes the session's locks away. */
const resetting = new Set<PropertyKey>(['reset', 'changeUser'])

function wouldReset(name: PropertyKey): LockUsageError {
  return new LockUsageError(
    'tx',
    `${String(name)} would end the transaction, and its locks with it, before the work is done`,
  )
}

/**
 * The connection for the work, until it is given back: a statement that comes later would run in the transaction of
 * whoever has the connection then.
 */
export function transactionView<C extends object>(connection: C, isLent: () => boolean): C {
  return viewOf(connection, (name, value) => {
    // the connection of callbacks beneath the one of promises, and what a prepared statement was made of
    if (name === 'connection' || name === 'statement') return coreView(value as object, isLent)
    if (resetting.has(name)) return () => Promise.reject(wouldReset(name))
    if (!sending.has(name)) return refusedEnding(name)
    const send = (value as Method).bind(connection as never) as Sending
    return (...args: never[]) => {
      if (!isLent()) return Promise.reject(hasEnded())
      return name === 'prepare'
        ? send(...args).then((statement) => transactionView(statement, isLent))
        : send(...args)
    }
  })
}

type Sending = (...args: never[]) => Promise<object>

function coreView<C extends object>(core: C, isLent: () => boolean): C {
  return viewOf(core, (name) => {
    if (!resetting.has(name) && (!sending.has(name) || isLent())) return refusedEnding(name)
    return () => {
      throw isLent() ? wouldReset(name) : hasEnded()
    }
  })
}
