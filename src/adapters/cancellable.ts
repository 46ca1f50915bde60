/** Promises that can be made to reject, for a driver that leaves them pending when its connection is destroyed. */
export interface Cancellable {
  readonly add: <T>(work: Promise<T>) => Promise<T>
  /** Rejects all that are pending. */
  readonly cancel: (why: Error) => void
}

export function cancellable(): Cancellable {
  const pending = new Set<(why: Error) => void>()
  return {
    add: (work) =>
      new Promise((resolve, reject) => {
        pending.add(reject)
        work.then(resolve, reject).finally(() => pending.delete(reject))
      }),
    cancel: (why) => {
      for (const reject of pending) reject(why)
    },
  }
}
