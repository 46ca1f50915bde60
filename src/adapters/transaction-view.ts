import { LockUsageError } from '../core/errors.ts'

/** A method of a connection, whatever it takes and gives. */
export type Method = (this: void, ...args: never[]) => unknown

/**
 * The connection as the work sees it: the same in everything but what `instead` gives. A new one for each
 * transaction, so that what is left of one can be told from the next, which may have the same connection.
 *
 * The driver keeps its state in the connection itself, so its methods are called on that.
 */
export function viewOf<C extends object>(
  connection: C,
  instead: (name: PropertyKey, value: unknown) => Method | object | true | undefined,
): C {
  const view: C = new Proxy(connection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      const own = instead(name, value)
      if (own !== undefined) return own
      if (typeof value !== 'function' || name === 'constructor') return value
      return (...args: never[]) => {
        const result: unknown = Reflect.apply(value, target, args)
        // as the methods for listeners give their own object
        return result === target ? view : result
      }
    },
  })
  return view
}

/** The same object, but for `check`, which comes before each call of a method and may throw. */
export function checkedView<C extends object>(object: C, check: () => void): C {
  return viewOf(object, (name, value) =>
    typeof value === 'function' && name !== 'constructor'
      ? checked(object, value as Method, check)
      : undefined,
  )
}

/** Checks when it is called, not when it is taken. */
export function checked(of: object, method: Method, check: () => void): Method {
  return (...args: never[]) => {
    check()
    return method.apply(of as never, args)
  }
}

/** What gives the connection back, or ends it. In the middle of a transaction somebody else would get it, with all of its locks. */
const ending = new Set<PropertyKey>(['release', 'end', 'close', Symbol.dispose, Symbol.asyncDispose])

/** Throws for a call that is its owner's business; undefined for every other name. */
export function refusedEnding(name: PropertyKey): Method | undefined {
  if (!ending.has(name)) return undefined
  return () => {
    throw new LockUsageError(
      'tx',
      `${String(name)} must not be called by the work: the connection is given back when the call ends`,
    )
  }
}
