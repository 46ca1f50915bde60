/** Calls `use` with what may have to be loaded first: at once where it is there, else in the order of the calls. */
export type Reach<Code> = <T>(use: (code: Code) => Promise<T>) => Promise<T>

/** Code that is loaded by the first call that needs it. */
export interface OnDemand<Code> extends Reach<Code> {
  /** From now on it is there: whoever has imported it need not wait. */
  readonly keep: (code: Code) => void
}

/** The path is to be literal, as in `onDemand(() => import('./seldom.ts'))`: bundlers have to find it. */
export function onDemand<Code>(load: () => Promise<Code>): OnDemand<Code> {
  let code: Code | undefined
  let loading: Promise<Code> | undefined
  const keep = (loaded: Code): void => void (code = loaded)
  const begin = (): Promise<Code> => {
    const begun = (loading = load())
    // before those who wait for it: whoever calls later comes behind them
    begun.then(keep, () => (loading = undefined))
    return begun
  }
  const on = <T>(use: (code: Code) => Promise<T>): Promise<T> =>
    code === undefined ? (loading ?? begin()).then(use) : use(code)
  return Object.assign(on, { keep })
}

/** The same for what is made of it, once. */
export function madeOf<Code, Made>(on: Reach<Code>, make: (code: Code) => Made): Reach<Made> {
  let made: Made | undefined
  return (use) => on((code) => use((made ??= make(code))))
}

/** What has to be loaded, as a promise. */
export function reached<Code>(reach: Reach<Code>): Promise<Code> {
  return reach(async (code) => code)
}

/**
 * What a caller has passed, as it is now: lists and plain objects are copied, since whoever has made them may change them
 * while the code is loaded that reads them. What is of a class stays what it is, and so does what lies deep.
 */
export function asItIs<T>(given: T, depth = 4): T {
  if (typeof given !== 'object' || given === null || depth === 0) return given
  if (Array.isArray(given)) return given.map((one: unknown) => asItIs(one, depth - 1)) as T
  const kind: unknown = Object.getPrototypeOf(given)
  if (kind !== null && kind !== Object.prototype) return given
  const copy = Object.entries(given).map(([field, value]) => [field, asItIs<unknown>(value, depth - 1)])
  return Object.fromEntries(copy) as T
}
