import type { SqliteTransaction } from './transaction.ts'
import { fateOf } from './words.ts'
import { refuseEnding } from '../transaction-body.ts'
import { refusedEnding } from '../transaction-view.ts'

type Method = (...args: unknown[]) => unknown

/** What these give is of the same transaction: statements, functions that run in a savepoint, iterators. */
const derives: ReadonlySet<unknown> = new Set(['prepare', 'transaction', 'iterate'])

/** A handle as the work of one transaction sees it. */
interface View {
  readonly handle: object
  readonly tx: object
  readonly transaction: SqliteTransaction
}

/**
 * The handle for the work of one transaction: every call is refused once that has ended, also on what was derived from
 * it before. The handle itself may be another transaction's by then.
 */
export function viewOf<Database extends object>(handle: Database, transaction: SqliteTransaction): Database {
  const view = { handle, transaction, tx: handle }
  view.tx = new Proxy(handle, { get: (_, name) => memberOf(handle, name, view) })
  return view.tx
}

function memberOf(object: object, name: string | symbol, view: View): unknown {
  // with the object itself as `this`: the driver's methods and private fields know no proxy
  const value: unknown = Reflect.get(object, name, object)
  if (value === view.handle) return view.tx
  if (typeof value !== 'function') return value
  const refused = object === view.handle ? refusedEnding(name) : undefined
  return refused ?? methodOf({ object, name, method: value as Method }, view)
}

interface Member {
  readonly object: object
  readonly name: string | symbol
  readonly method: Method
}

function methodOf({ object, name, method }: Member, view: View): Method {
  const { handle, tx, transaction } = view
  return function (this: unknown, ...args) {
    if (object === handle && (name === 'prepare' || name === 'exec')) refuseEnding(fateOf, args[0])
    const send = (): unknown => Reflect.apply(method, object, args)
    const text = transaction.ear === undefined ? undefined : textRun({ object, name, method }, args)
    const result = transaction.callByWork(() =>
      text === undefined ? send() : transaction.statement(text, args, send),
    )
    if (result === handle) return tx
    if (result === object) return this
    if (derives.has(name)) return derived(result as object, view)
    if (isIterator(object) && (result as IteratorResult<unknown>).done === true) transaction.forget(object)
    return result
  }
}

const runs: ReadonlySet<unknown> = new Set(['run', 'get', 'all', 'iterate'])

/** The text that a call runs: a statement's own, or the one that the handle is given. Undefined where it runs none. */
function textRun({ object, name }: Member, [first]: readonly unknown[]): string | undefined {
  const { source, sourceSQL = source } = object as { readonly source?: unknown; readonly sourceSQL?: unknown }
  const text = name === 'exec' ? first : runs.has(name) ? sourceSQL : undefined
  return typeof text === 'string' ? text : undefined
}

/** Behind a stand-in: the driver freezes properties such as `database`, and a proxy must not change what is frozen. */
function derived(object: object, view: View): object {
  if (isIterator(object)) view.transaction.keep(object)
  const kind = Reflect.getPrototypeOf(object)
  const standIn = typeof object === 'function' ? () => {} : (Object.create(kind) as object)
  return new Proxy(standIn, {
    get: (_, name) => memberOf(object, name, view),
    apply: (_, self, args: unknown[]) =>
      view.transaction.callWork((): unknown => Reflect.apply(object as Method, self, args)),
  })
}

function isIterator(object: object): object is Iterator<unknown> {
  return 'next' in object
}
