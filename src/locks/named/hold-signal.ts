import { LockLostError } from '../../core/errors.ts'
import type { JoinedLock, OpenTransaction } from '../port.ts'

type Holder = Pick<OpenTransaction<unknown>, 'session' | 'signal' | 'begun' | 'onLeave'>

/**
 * Tells the work that holds a lock on a session when the lock is gone: one that belongs to a connection or its
 * transaction is gone when the connection is.
 *
 * A class, because a getter in an object literal gives every object a shape of its own, which is kept for long.
 */
export class HoldSignal {
  readonly #holder: Holder
  readonly #joined: readonly JoinedLock[] | undefined
  #lost: AbortController | undefined
  #refusal: { readonly why: unknown } | undefined
  #signal: AbortSignal | undefined

  constructor(holder: Holder, joined?: readonly JoinedLock[]) {
    this.#holder = holder
    this.#joined = joined
    // a beginning that travels with the work's first statement: when it fails, nothing was ever held
    holder.begun?.catch((why: unknown) => {
      this.#refusal = { why }
      this.#lost?.abort(why)
    })
  }

  /** Made when it is asked for first: most work never asks. */
  get signal(): AbortSignal {
    this.#signal ??= this.#make()
    return this.#signal
  }

  #make(): AbortSignal {
    const { session, signal, onLeave } = this.#holder
    const lost = new AbortController()
    this.#lost = lost
    if (this.#refusal !== undefined) lost.abort(this.#refusal.why)
    for (const lock of this.#joined ?? []) {
      const tell = (): void => lost.abort(new LockLostError('the lock was released with a savepoint'))
      if (lock.isGivenUp) tell()
      else lock.tell.push(tell)
    }
    // once the work has ended, the connection may be somebody else's
    const stop =
      onLeave &&
      session.onLost?.((cause) => {
        lost.abort(new LockLostError('the connection that held the lock is broken', { cause }))
      })
    if (stop !== undefined) onLeave?.push(stop)
    return signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal])
  }
}
