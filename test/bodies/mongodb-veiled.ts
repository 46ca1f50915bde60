import { MongoClient, type ClientSession, type Db } from 'mongodb'

/** How a session is seen by the driver: what it answers for each name, given how it would have been answered. */
export type Veil = (session: ClientSession, name: PropertyKey) => unknown

/**
 * A client as of a driver that asks its sessions in another way than the one at hand: whatever is given a session,
 * through any `Db` of it, is given a veiled one.
 */
export class VeiledClient extends MongoClient {
  veil: Veil = (session, name) => Reflect.get(session, name)

  override db(...given: Parameters<MongoClient['db']>): Db {
    return this.#veiled(super.db(...given))
  }

  #veiled<T extends object>(source: T): T {
    return new Proxy(source, {
      get: (_, name) => {
        const value: unknown = Reflect.get(source, name)
        if (typeof value !== 'function') return value
        return (...given: unknown[]): unknown => {
          const result: unknown = Reflect.apply(
            value,
            source,
            given.map((part) => this.#withVeil(part)),
          )
          return name === 'collection' ? this.#veiled(result as object) : result
        }
      },
    })
  }

  #withVeil(part: unknown): unknown {
    if (typeof part !== 'object' || part === null || !('session' in part)) return part
    const get = (session: ClientSession, name: PropertyKey): unknown => this.veil(session, name)
    return { ...part, session: new Proxy(part.session as ClientSession, { get }) }
  }
}
