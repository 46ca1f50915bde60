/** Sees every promise of a statement before the caller does. */
export type Watch = <T>(statement: Promise<T>) => Promise<T>

type Method = (...args: unknown[]) => unknown

/** The methods whose promise is that of a statement. */
const sending = ['query', 'execute']

/**
 * The same connection, whose statements are watched: a deadlock that the caller's work catches would else go unseen,
 * and the server does not tell of it at COMMIT.
 */
export function watched<C extends object>(connection: C, watch: Watch): C {
  return new Proxy(connection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const method: Method = (value as Method).bind(target)
      if (sending.includes(String(name)))
        return (...args: unknown[]) => watch(method(...args) as Promise<unknown>)
      if (name !== 'prepare') return method
      return async (...args: unknown[]) =>
        watched((await watch(method(...args) as Promise<unknown>)) as object, watch)
    },
  })
}
