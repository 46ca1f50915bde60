import { LockLostError } from '../../core/errors.ts'
import type { OpenTransaction } from '../port.ts'

type Holder = Pick<OpenTransaction<unknown>, 'session' | 'signal' | 'begun'>

/**
 * Tells the work that holds a lock on a session when the lock is gone: one that belongs to a connection or its
 * transaction is gone when the connection is.
 *
 * A class, because a getter in an object literal gives every object a shape of its own, which is kept for long.
 */
export class HoldSignal {
  readonly #aborted: AbortSignal | undefined
  readonly #stop: (() => void) | undefined
  #lost: AbortController | undefined
  #reason: { readonly why: unknown } | undefined
  #signal: AbortSignal | undefined

  constructor({ session, signal, begun }: Holder) {
    this.#aborted = signal
    begun?.catch(this.#lose) // it was never held
    this.#stop = session.onLost?.((cause) => {
      this.#lose(new LockLostError('the connection that held the lock is broken', { cause }))
    })
  }

  /** Made when it is asked for first: most work never asks. */
  get signal(): AbortSignal {
    this.#signal ??= this.#make()
    return this.#signal
  }

  stop(): void {
    this.#stop?.()
  }

  readonly #lose = (why: unknown): void => {
    this.#reason ??= { why }
    this.#lost?.abort(why)
  }

  #make(): AbortSignal {
    this.#lost = new AbortController()
    if (this.#reason !== undefined) this.#lost.abort(this.#reason.why)
    return this.#aborted === undefined
      ? this.#lost.signal
      : AbortSignal.any([this.#aborted, this.#lost.signal])
  }
}
