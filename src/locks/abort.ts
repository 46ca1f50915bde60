/** What ends a wait from outside: an `AbortSignal`, or a {@link Cutoff}. */
export interface Abortable {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(event: 'abort', listener: () => void, options?: { readonly once: boolean }): void
  removeEventListener(event: 'abort', listener: () => void): void
  throwIfAborted(): void
}

/**
 * An `AbortController` and its signal in one, for waits of our own: most are never aborted, and the two are as dear to
 * make as the request that is waited for is to send.
 */
export class Cutoff implements Abortable {
  aborted = false
  reason: unknown
  #listeners: (() => void)[] = []

  /** Only the first reason counts. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = []
    for (const tell of listeners) tell()
  }

  addEventListener(_: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener)
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    const place = this.#listeners.indexOf(listener)
    if (place >= 0) this.#listeners.splice(place, 1)
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }
}

/**
 * What `work` gives, unless the signal aborts first: then `interrupt` runs and the signal's reason is thrown, without
 * waiting for work that may never end.
 */
export function untilAborted<T>(
  work: Promise<T>,
  signal: Abortable | undefined,
  interrupt: () => void,
): Promise<T> {
  return signal === undefined ? work : raceAgainst(signal, work, interrupt)
}

function raceAgainst<T>(signal: Abortable, work: Promise<T>, interrupt: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const end = (): void => {
      isOver = true
      signal.removeEventListener('abort', onAbort)
    }
    const give = (result: T): void => {
      end()
      resolve(result)
    }
    const fail = (why: Error): void => {
      end()
      reject(why)
    }
    // work that has ended by then comes first
    const onAbort = (): void =>
      queueMicrotask(() => {
        if (isOver) return
        interrupt()
        fail(signal.reason as Error)
      })
    Promise.resolve(work).then(give, fail) // from JavaScript it may be anything
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
