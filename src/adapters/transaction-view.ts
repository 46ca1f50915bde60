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
  return new Proxy(connection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      const own = instead(name, value)
      if (own !== undefined) return own
      return typeof value === 'function' && name !== 'constructor'
        ? ((value as Method).bind(target as never) as unknown)
        : value
    },
  })
}

/** What gives the connection back. In the middle of a transaction somebody else would get it, with all of its locks. */
const ending = new Set<PropertyKey>(['release', 'end', Symbol.dispose, Symbol.asyncDispose])

/** Throws for a call that is its owner's business; undefined for every other name. */
export function refusedEnding(name: PropertyKey): Method | undefined {
  if (!ending.has(name)) return undefined
  return () => {
    throw new LockUsageError(
      'tx',
      `${String(name)} is not the work's to call: the connection is given back when the call ends`,
    )
  }
}
