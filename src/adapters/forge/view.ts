import { LockUsageError } from '../../core/errors.ts'
import { hasEnded } from '../transaction-body.ts'
import type { Method } from '../transaction-view.ts'

/** A transaction, as its view sees it. */
export interface Viewed {
  /** The client's own object. Absent while there is no transaction. */
  readonly tx: () => object | undefined
  /** Whether the client sends when it is called, and not when somebody waits. */
  readonly isEager: () => boolean
  /** Makes a call of the work, when it is its turn: `sql` where it is a statement, and not a call of a model. */
  readonly call: (sql: string | undefined, call: () => PromiseLike<unknown>) => Promise<unknown>
}

const raw = new Set<PropertyKey>(['$queryRawUnsafe', '$executeRawUnsafe', '$queryRaw', '$executeRaw'])

/** What the work must not call, and what to do instead. */
const refused: Readonly<Record<string, string>> = {
  $transaction:
    'a nested transaction gives up locks that Holdfast would go on counting: call the work directly',
  $extends: 'what it gives would not be watched: extend the client before it is given to createLocks',
  $connect: 'the connection is given back when the call ends',
  $disconnect: 'the connection is given back when the call ends',
}

/** The object of a client's transaction for the work: what it sends is watched, and refused when it has ended. */
export function viewOf(viewed: Viewed): object {
  const get = (name: PropertyKey): unknown => {
    const tx = viewed.tx()
    if (name === 'then' || typeof name === 'symbol') return tx && (Reflect.get(tx, name) as unknown)
    if (tx === undefined) throw hasEnded()
    if (typeof name === 'string' && Object.hasOwn(refused, name)) return () => refuse(name)
    const value: unknown = Reflect.get(tx, name, tx)
    if (typeof value === 'function')
      return callOf({ of: tx, isSent: raw.has(name), name, method: value as Method }, viewed)
    return isObject(value) ? modelOf(value, viewed) : value
  }
  return new Proxy(
    {},
    {
      get: (_, name) => get(name),
      has: (_, name) => Reflect.has(viewed.tx() ?? {}, name),
    },
  )
}

/** A model: its methods are calls of the work. */
function modelOf(model: object, viewed: Viewed): object {
  return new Proxy(model, {
    get: (_, name) => {
      const value: unknown = Reflect.get(model, name, model)
      if (typeof value !== 'function' || typeof name === 'symbol') return value
      return callOf({ of: model, isSent: true, name, method: value as Method }, viewed)
    },
  })
}

interface Member {
  readonly of: object
  readonly name: PropertyKey
  readonly method: Method
  /** Whether it is known to send something. */
  readonly isSent: boolean
}

function callOf({ of, isSent, name, method }: Member, viewed: Viewed): Method {
  return (...args: never[]) => {
    const sql = raw.has(name) ? textOf(args[0]) : undefined
    const send = (): unknown => method.apply(of as never, args)
    if (isSent && viewed.isEager()) return viewed.call(sql, async () => send())
    const result = send()
    return isPromise(result) ? watched(result, sql, viewed) : result
  }
}

/** Nothing may have been sent yet: such clients send when somebody waits, so it is watched from there on. */
function watched(promise: PromiseLike<unknown> & object, sql: string | undefined, viewed: Viewed): object {
  let running: Promise<unknown> | undefined
  const run = (): Promise<unknown> => (running ??= viewed.call(sql, () => promise))
  const own: Readonly<Record<PropertyKey, unknown>> = {
    // oxlint-disable-next-line unicorn/no-thenable -- it stands for a promise
    then: (...handlers: Parameters<Promise<unknown>['then']>) => run().then(...handlers),
    catch: (handler: Parameters<Promise<unknown>['catch']>[0]) => run().catch(handler),
    finally: (handler: Parameters<Promise<unknown>['finally']>[0]) => run().finally(handler),
  }
  return new Proxy(promise, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return own[name]
      const value: unknown = Reflect.get(promise, name, promise)
      // as the relations of a record that is not read yet
      return typeof value === 'function' && name !== 'constructor'
        ? callOf({ of: promise, isSent: false, name, method: value as Method }, viewed)
        : value
    },
  })
}

/** Of a template, or of a text that the client has put together: what stands between the values. */
function textOf(query: unknown): string {
  if (typeof query === 'string') return query
  const parts = Array.isArray(query) ? (query as unknown) : (query as { readonly strings?: unknown }).strings
  return Array.isArray(parts) ? parts.join(' ? ') : ''
}

function refuse(name: string): never {
  throw new LockUsageError('tx', `${name} must not be called by the work: ${refused[name]}`)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isPromise(value: unknown): value is PromiseLike<unknown> & object {
  return isObject(value) && typeof (value as Partial<PromiseLike<unknown>>).then === 'function'
}
