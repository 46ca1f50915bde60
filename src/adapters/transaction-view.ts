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
