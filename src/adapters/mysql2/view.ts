import { LockUsageError } from '../../core/errors.ts'
import { hasEnded } from '../transaction-body.ts'
import { checked, refusedEnding, viewOf, type Method } from '../transaction-view.ts'

/** The methods that reach the server, of a connection and of a prepared statement. */
const sending = new Set<PropertyKey>([
  'query',
  'execute',
  'prepare',
  'beginTransaction',
  'commit',
  'rollback',
  'ping',
])

/** The end of a prepared statement is whoever's who has prepared it; that of a connection is not. */
const sendingOfStatement = new Set<PropertyKey>(['execute', 'close'])

/** What makes the session as good as new: the server rolls back, and takes the session's locks away. */
const resetting = new Set<PropertyKey>(['reset', 'changeUser'])

function wouldReset(name: PropertyKey): LockUsageError {
  return new LockUsageError(
    'tx',
    `${String(name)} would end the transaction, and its locks with it, before the work is done`,
  )
}

/** The same of the connection of callbacks, and what goes round them. */
const sendingBeneath = new Set<PropertyKey>([...sending, 'addCommand', 'destroy', 'pause', 'resume'])

/** Where the connection of callbacks is beneath that of promises, and what a prepared statement was made of and for. */
const beneath = new Set<PropertyKey>(['connection', 'statement', '_connection'])

type Sending = (...args: unknown[]) => unknown

/**
 * The connection for the work, until it is given back: a statement that comes later would run in the transaction of
 * whoever has the connection then. So is all that comes from it, however early it was taken.
 */
export function transactionView<C extends object>(
  connection: C,
  isLent: () => boolean,
  methods: ReadonlySet<PropertyKey> = sending,
): C {
  return viewOf(connection, (name, value) => {
    if (beneath.has(name)) return viewBeneath(name, value, isLent)
    if (name === 'destroy') return checked(connection, value as Method, () => mustBe(isLent))
    if (resetting.has(name)) return () => Promise.reject(isLent() ? wouldReset(name) : hasEnded())
    if (!methods.has(name)) return refusedEnding(name)
    const send = (value as Method).bind(connection as never) as (...args: never[]) => Promise<object>
    return (...args: never[]) => {
      if (!isLent()) return Promise.reject(hasEnded())
      return name === 'prepare'
        ? send(...args).then((statement) => transactionView(statement, isLent, sendingOfStatement))
        : send(...args)
    }
  })
}

function viewBeneath(name: PropertyKey, value: unknown, isLent: () => boolean): object {
  return coreView(value as object, isLent, name === 'statement' ? sendingOfStatement : sendingBeneath)
}

function coreView<C extends object>(core: C, isLent: () => boolean, methods: ReadonlySet<PropertyKey>): C {
  return viewOf(core, (name, value) => {
    if (beneath.has(name)) return viewBeneath(name, value, isLent)
    if (resetting.has(name)) {
      return () => {
        throw isLent() ? wouldReset(name) : hasEnded()
      }
    }
    if (name === 'promise') {
      const promise = (value as Method).bind(core as never) as (...args: never[]) => object
      return (...args: never[]) => transactionView(promise(...args), isLent)
    }
    if (!methods.has(name)) return refusedEnding(name)
    const send = checked(core, value as Method, () => mustBe(isLent))
    return name === 'prepare' ? preparing(send as Sending, isLent) : send
  })
}

function mustBe(isLent: () => boolean): void {
  if (!isLent()) throw hasEnded()
}

/** The statement comes by callback. */
function preparing(prepare: Sending, isLent: () => boolean): Method {
  return (query: unknown, callback?: (error: unknown, statement: object | undefined) => void) =>
    prepare(query, (error: unknown, statement: object | undefined) =>
      callback?.(error, statement && coreView(statement, isLent, sendingOfStatement)),
    )
}
