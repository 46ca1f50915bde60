/** Begins something, and tells how it ends. */
export type Start<T> = (resolve: (result: T) => void, reject: (why: Error) => void) => void

/** Promises that can be made to reject, for a driver that leaves them pending when its connection is destroyed. */
export interface Cancellable {
  readonly start: <T>(begin: Start<T>) => Promise<T>
  readonly add: <T>(work: Promise<T>) => Promise<T>
  /** Rejects all that are pending. */
  readonly cancel: (why: Error) => void
}

/** `note` is told every error that one of them rejects with. */
export function cancellable(note: (error: unknown) => void): Cancellable {
  const pending = new Set<(why: Error) => void>()
  const start: Cancellable['start'] = (begin) =>
    new Promise((resolve, reject) => {
      const fail = (why: Error): void => {
        pending.delete(fail)
        note(why)
        reject(why)
      }
      pending.add(fail)
      try {
        begin((result) => {
          pending.delete(fail)
          resolve(result)
        }, fail)
      } catch (error) {
        fail(error as Error)
      }
    })
  return {
    start,
    add: (work) => start((resolve, reject) => void work.then(resolve, reject)),
    cancel: (why) => {
      for (const reject of pending) reject(why)
    },
  }
}
