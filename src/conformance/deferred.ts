/** A promise that is settled from outside. Node 20 has no `Promise.withResolvers`. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

/** Whoever does not look at the promise does not hear of its rejection. */
export function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => {})
  if (settle === undefined) throw new TypeError('a promise calls its executor at once')
  return { promise, ...settle }
}
