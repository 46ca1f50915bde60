import { backoffMs } from '../../core/backoff.ts'
import type { Finding } from '../../core/attestation.ts'
import { deadlineIn, pause, type Deadline } from '../../core/deadline.ts'
import { isRetryable } from '../../core/error-kind.ts'
import type { Session } from '../../core/session.ts'
import type { Statement } from '../../core/statement.ts'
import { readFailure } from '../failure.ts'
import { openSession } from '../open-session.ts'
import type { Server } from '../port.ts'
import { sessionEnd } from '../session-end.ts'
import type { Ground } from './ground.ts'
import { wordsOf } from './verdict.ts'

/** Also after an abort: what was made is removed in any case. */
const withinMs = 2000

/** What became of the rows: all removed, or why not. */
export interface Removal {
  readonly left: readonly Finding[]
  readonly error?: unknown
}

/** Removes the rows that were tried on. Never rejects: what stays behind is a finding. */
export async function removeRows<Tx>(
  { port, server, tools }: Ground<Tx>,
  names: readonly string[],
): Promise<Removal> {
  const deadline = deadlineIn(withinMs)
  try {
    const session = await openSession(port, { patienceMs: withinMs, purpose: 'to clean up' })
    const ending = sessionEnd(session)
    try {
      for (const name of names) {
        const statement = tools.examination.leaseRow.remove(name)
        await runPatiently({ session, server, deadline }, statement)
      }
    } catch (error) {
      ending.doubt(error)
      throw error
    } finally {
      await ending.end()
    }
    return { left: [] }
  } catch (error) {
    return { left: [leftBehind(error)], error }
  }
}

interface Runner {
  readonly session: Session
  readonly server: Server
  readonly deadline: Deadline
}

/** Others may write at the same moment: on some engines that is an error. */
async function runPatiently({ session, server, deadline }: Runner, statement: Statement): Promise<void> {
  for (let failed = 1; ; failed += 1) {
    try {
      await session.run(statement)
      return
    } catch (error) {
      if (!isRetryable(readFailure(error, server.dialect).kind) || deadline.isPast()) throw error
    }
    await pause(backoffMs(failed, { baseMs: 10, capMs: 100 }), deadline)
  }
}

function leftBehind(error: unknown): Finding {
  return {
    id: 'trial-row-left',
    severity: 'note',
    title: 'a row of the trial is still in the table of leases',
    why: `It could not be removed: ${wordsOf(error)}. It belongs to nobody and does no harm.`,
    mend: 'Delete the rows of _leases whose names begin with "hl:holdfast.attest" or "hf:holdfast.attest".',
  }
}
