import { LockLostError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'

/** Tells the work that holds a lock on a session when the lock is gone. */
export interface HoldSignal {
  readonly signal: AbortSignal
  readonly stop: () => void
}

/** A lock that belongs to a connection or its transaction is gone when the connection is. */
export function holdSignal(session: Session, aborted: AbortSignal | undefined): HoldSignal {
  const lost = new AbortController()
  const stop = session.onLost?.((cause) => {
    lost.abort(new LockLostError('the connection that held the lock is broken', { cause }))
  })
  const signal = aborted === undefined ? lost.signal : AbortSignal.any([aborted, lost.signal])
  return { signal, stop: () => stop?.() }
}
