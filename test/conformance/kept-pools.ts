import type { Connected, Subject } from '../../src/conformance/subject.ts'

/** A subject whose pools are used again. */
export interface Keeper {
  readonly subject: Subject
  /** Ends the pools that nobody uses. */
  readonly end: () => Promise<void>
}

/**
 * Lends a pool that was given back to who asks for the next one of its size: most of what a law costs is to connect. Only
 * for laws that hold, since each of them has seen that every connection it gives back is as it was. A pool of one is no
 * application's: what a law wants to see end, ends.
 */
export function keepPools(subject: Subject): Keeper {
  const idle = new Map<number, Connected[]>()
  const lent = (size: number, pool: Connected): Connected => ({
    ...pool,
    close: async () => {
      const others = idle.get(size) ?? []
      if (!others.includes(pool)) idle.set(size, [...others, pool])
    },
  })
  return {
    subject: {
      ...subject,
      connect: async (size) =>
        size === 1
          ? subject.connect(size)
          : lent(size, idle.get(size)?.pop() ?? (await subject.connect(size))),
    },
    end: async () => {
      const pools = [...idle.values()].flat()
      idle.clear()
      await Promise.all(pools.map(({ close }) => close()))
    },
  }
}
