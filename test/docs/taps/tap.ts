/** What a driver sends: the text of a statement, or a command of MongoDB. */
export type Sent = string | Readonly<Record<string, unknown>>

/** Listens to a driver, in this process: to what it sends, and to what it opens. */
export interface Tap {
  /** From now on, what is opened belongs to the program. */
  readonly begin: () => void
  /** Hears everything that is sent from now on, until {@link Tap.endAll}. */
  readonly listen: (hear: (sent: Sent) => void) => void
  /** Ends whatever was opened since the beginning. */
  readonly endAll: () => Promise<void>
}

/** What a tap keeps: who listens, and what is open. */
export interface TapState<Opened> {
  readonly hear: (sent: Sent) => void
  readonly note: (opened: Opened) => void
  readonly tap: Tap
}

export function tapState<Opened>(end: (opened: Opened) => Promise<unknown>): TapState<Opened> {
  const opened = new Set<Opened>()
  let listener: ((sent: Sent) => void) | undefined
  let hasBegun = false
  return {
    hear: (sent) => listener?.(sent),
    note: (one) => void (hasBegun && opened.add(one)),
    tap: {
      begin: () => {
        hasBegun = true
      },
      listen: (hear) => {
        listener = hear
      },
      endAll: async () => {
        listener = undefined
        hasBegun = false
        const all = [...opened]
        opened.clear()
        await Promise.all(all.map(end))
      },
    },
  }
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Puts `see` in front of a method of a driver's class. */
export function before<T extends object>(
  owner: T,
  name: keyof T & string,
  see: (self: never, args: readonly unknown[]) => void,
): void {
  const original = owner[name] as unknown as Method
  const replaced = function (this: unknown, ...args: unknown[]): unknown {
    see(this as never, args)
    return original.apply(this, args)
  }
  Object.defineProperty(owner, name, { value: replaced, writable: true, configurable: true })
}
