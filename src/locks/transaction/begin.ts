import { backoffMs } from '../../core/backoff.ts'
import { classifyFor } from '../../core/classify.ts'
import { pause, type Deadline } from '../../core/deadline.ts'
import { LockTimeoutError } from '../../core/errors.ts'
import type { Session, TransactionStart } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'

export interface BeginLimits {
  readonly dialect: Dialect
  /** The waiting for a turn has used up some of it already. */
  readonly deadline: Deadline
  readonly signal: AbortSignal | undefined
  /** Whether nobody waits for it any more: what it would take then, nobody would give back. */
  readonly isGivenUp: () => boolean
}

/** Short pauses: whoever writes to SQLite holds the lock for milliseconds, and nobody is woken when it is free. */
export function busyPauseMs(): number {
  return backoffMs(1, { baseMs: 5, capMs: 5 })
}

/**
 * Begins, and where BEGIN itself takes the lock, repeats it while another connection holds that.
 *
 * Sleeps between tries without blocking the event loop. Ends with {@link LockTimeoutError} at the deadline.
 */
export async function beginWaiting(
  session: Session,
  start: TransactionStart,
  { dialect, deadline, signal, isGivenUp }: BeginLimits,
): Promise<readonly Row[]> {
  for (;;) {
    try {
      return await session.begin(start)
    } catch (error) {
      if (start.mode === undefined || classifyFor(error, dialect).kind !== 'busy') throw error
      if (deadline.isPast() || isGivenUp()) {
        throw new LockTimeoutError('the database was locked by another connection for too long', {
          cause: error,
        })
      }
    }
    await pause(busyPauseMs(), deadline, signal)
    if (isGivenUp()) throw new LockTimeoutError('the wait for the database was given up')
  }
}
