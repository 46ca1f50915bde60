import { deferred } from './deferred.ts'

/** A list that grows, and that can be read ahead of what is in it. */
export interface Told<T> {
  readonly put: (item: T) => void
  /** The item at this place, as soon as it is there. */
  readonly at: (index: number) => Promise<T>
  readonly soFar: () => readonly T[]
}

export function createTold<T>(): Told<T> {
  const items: T[] = []
  let news = deferred<void>()
  return {
    put: (item) => {
      items.push(item)
      news.resolve()
      news = deferred()
    },
    at: async (index) => {
      for (;;) {
        const item = items[index]
        if (item !== undefined) return item
        await news.promise
      }
    },
    soFar: () => items,
  }
}
