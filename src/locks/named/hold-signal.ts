import { LockLostError } from '../../core/errors.ts'
import type { OpenTransaction } from '../port.ts'

/** Tells the work that holds a lock on a session when the lock is gone. */
export interface HoldSignal {
  /** Made when it is asked for first: most work never asks. */
  readonly signal: AbortSignal
  readonly stop: () => void
}

/** A lock that belongs to a connection or its transaction is gone when the connection is. */
export function holdSignal({
  session,
  signal: aborted,
  begun,
}: Pick<OpenTransaction<unknown>, 'session' | 'signal' | 'begun'>): HoldSignal {
  let lost: AbortController | undefined
  let reason: { readonly why: unknown } | undefined
  let signal: AbortSignal | undefined
  const lose = (why: unknown): void => {
    reason ??= { why }
    lost?.abort(why)
  }
  begun?.catch(lose) // it was never held
  const stop = session.onLost?.((cause) => {
    lose(new LockLostError('the connection that held the lock is broken', { cause }))
  })
  const make = (): AbortSignal => {
    lost = new AbortController()
    if (reason !== undefined) lost.abort(reason.why)
    return aborted === undefined ? lost.signal : AbortSignal.any([aborted, lost.signal])
  }
  return {
    get signal() {
      signal ??= make()
      return signal
    },
    stop: () => stop?.(),
  }
}
