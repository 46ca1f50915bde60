import { LockUsageError } from '../../core/errors.ts'
import { hasEnded } from '../transaction-body.ts'
import { checkedView, refusedEnding, viewOf, type Method } from '../transaction-view.ts'
import type { Flight } from '../flight.ts'

/** What reaches the server by several commands, or by one that only comes later, and answers by a promise. */
const sending = new Set<PropertyKey>(['query', 'execute', 'prepare', 'batch', 'ping'])

/** Why a call is not the work's, by its name. */
const refused: Readonly<Record<PropertyKey, string>> = {
  beginTransaction: 'a transaction is open, and a second one would commit it',
  commit: 'return to commit, throw to roll back',
  rollback: 'return to commit, throw to roll back',
  reset: 'it would end the transaction, and its locks with it',
  changeUser: 'it would end the transaction, and its locks with it',
  destroy: 'the connection is given back when the call ends: throw to roll back',
  importFile:
    'it goes round the statements of the transaction: read the file, and send what is in it by query',
}

/** How the work's calls on a connection are looked after. */
export interface Care {
  readonly isLent: () => boolean
  /** Counts what is under way. */
  readonly flight: Flight
}

/**
 * The connection for the work, until it is given back: a statement that comes later would run in the transaction of
 * whoever has the connection then. So is all that comes from it, however early it was taken.
 */
export function transactionView<C extends object>(connection: C, care: Care): C {
  const check = (): void => {
    if (!care.isLent()) throw hasEnded()
  }
  return viewOf(connection, (name, value) => {
    const why = Object.hasOwn(refused, name) ? refused[name] : undefined
    if (why !== undefined) return () => Promise.reject(care.isLent() ? notYours(name, why) : hasEnded())
    if (name === 'queryStream') {
      return (...args: never[]) => {
        check()
        return (value as Method).apply(connection as never, args)
      }
    }
    if (!sending.has(name)) return refusedEnding(name)
    const send = (value as Method).bind(connection as never) as (...args: never[]) => Promise<unknown>
    return (...args: never[]) => {
      if (!care.isLent()) return Promise.reject(hasEnded())
      const sent = counted(care.flight, send(...args))
      return name === 'prepare' ? sent.then((statement) => statementView(statement as object, care)) : sent
    }
  })
}

function notYours(name: PropertyKey, why: string): LockUsageError {
  return new LockUsageError('tx', `${String(name)} must not be called by the work: ${why}`)
}

/** One call can be several commands, each of which is sent when the one before is answered. */
function counted<T>(flight: Flight, sent: Promise<T>): Promise<T> {
  flight.start()
  void sent.then(flight.land, flight.land)
  return sent
}

/** Its own end is whoever's who has prepared it. */
function statementView(statement: object, { isLent, flight }: Care): object {
  const check = (): void => {
    if (!isLent()) throw hasEnded()
  }
  return viewOf(checkedView(statement, check), (name, value) => {
    // what is beneath the connection of promises has no view of its own
    if (name === 'conn') return {}
    if (name !== 'execute') return undefined
    const execute = (value as Method).bind(statement as never)
    return (...args: never[]) => {
      if (!isLent()) return Promise.reject(hasEnded())
      const sent = execute(...args)
      return sent instanceof Promise ? counted(flight, sent) : sent
    }
  })
}
