import type { Deadlock } from '../../core/deadlock.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import { untilAborted } from '../abort.ts'
import { callInClear } from '../named/clear-names.ts'
import { openSession } from '../open-session.ts'
import type { Port } from '../port.ts'
import { askAll } from '../questions.ts'
import { sessionEnd } from '../session-end.ts'
import { fromVictim } from './autopsy.ts'

/** The deadlocks that a server remembers. */
export interface LatestDeadlocks {
  /** The name of the dialect, such as `postgres`. */
  readonly dialect: string
  /** The server's version. */
  readonly version: string
  /** The newest first. */
  readonly deadlocks: readonly Deadlock[]
  /** How many the server has counted, those included that it does not remember. Absent where it counts none. */
  readonly counted?: number
  /** What could not be seen, and why: missing rights, or a server that does not keep it. */
  readonly unseen: readonly string[]
}

export interface LatestOptions {
  readonly keys: Iterable<LockKey>
  readonly signal?: AbortSignal | undefined
}

const noCircles =
  'nothing: on this engine nobody waits in the server for a lock, so that no deadlock can come about there'

/** Asks the server for the deadlocks that it remembers. Takes no lock and begins no transaction. */
export async function latestDeadlocks<Tx>(
  port: Port<Tx>,
  { keys, signal }: LatestOptions,
): Promise<LatestDeadlocks> {
  const session = await openSession(port, { purpose: 'to look at deadlocks', patienceMs: 30_000, signal })
  const { end, doubt } = sessionEnd(session)
  const look = async (): Promise<LatestDeadlocks> => {
    const { dialect, version } = await port.server(session)
    const reader = (await dialect.tools?.())?.deadlocks
    const server = { dialect: dialect.name, version: version.join('.') }
    if (reader === undefined) return { ...server, deadlocks: [], unseen: [noCircles] }
    const { replies, refused } = await askAll(reader.latest.questions, { session, dialect, doubt })
    const { deadlocks, counted, unseen } = reader.latest.read(replies)
    const inClear = deadlocks.map(({ sessions, ...found }): Deadlock =>
      Object.assign(found, {
        dialect: dialect.name,
        sessions: callInClear({ sessions: fromVictim(sessions), leases: [] }, [...keys]).sessions,
      }),
    )
    const count = counted === undefined ? {} : { counted }
    return { ...server, deadlocks: inClear, ...count, unseen: [...refused, ...unseen] }
  }
  try {
    return await untilAborted(look(), signal, () => {})
  } catch (error) {
    if (!(error instanceof LockUsageError)) doubt(error)
    throw error
  } finally {
    await end()
  }
}
