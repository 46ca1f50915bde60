/** Promises that can be made to reject, for a driver that leaves them pending when its connection is destroyed. */
export interface Cancellable {
  readonly add: <T>(work: Promise<T>) => Promise<T>
  /** Rejects all that are pending. */
  readonly cancel: (why: Error) => void
}

/** `note` is told every error that one of them rejects with. */
export function cancellable(note: (error: unknown) => void): Cancellable {
  const pending = new Set<(why: Error) => void>()
  return {
    add: (work) =>
      new Promise((resolve, reject) => {
        const fail = (why: Error): void => {
          pending.delete(fail)
          note(why)
          reject(why)
        }
        pending.add(fail)
        work.then((result) => {
          pending.delete(fail)
          resolve(result)
        }, fail)
      }),
    cancel: (why) => {
      for (const reject of pending) reject(why)
    },
  }
}
