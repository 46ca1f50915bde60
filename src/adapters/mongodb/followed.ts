type Follow = (operation: Promise<unknown>) => Promise<unknown>

/**
 * A `Db` of which every call is followed until it settles, and everything that it gives out as well: collections,
 * cursors, what they are read with. It knows nothing of the driver but that its operations are promises.
 */
export function followed<T extends object>(source: T, follow: Follow): T {
  const view: T = new Proxy(source, {
    get(_, name) {
      const value: unknown = Reflect.get(source, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, source, given)
        if (result instanceof Promise) return follow(result)
        if (result === source) return view
        return isPart(result) ? followed(result, follow) : result
      }
    },
  })
  return view
}

/** Documents come as promises, or in a list. */
function isPart(result: unknown): result is object {
  return typeof result === 'object' && result !== null && !Array.isArray(result)
}
